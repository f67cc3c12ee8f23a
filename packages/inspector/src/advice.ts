const OVER_LIMITS =
  'The pack could not be read within the limits: make it smaller or simpler, or report the host nodes by POST.'

/**
 * Ways out, by the code of a reason: why the host nodes of a pack could not be read, or why some may be missing. Codes of
 * one family (`archive_bad_crc`, `budget_steps`) share a sentence, that of their first word.
 */
export const ADVICE: Readonly<Record<string, string>> = {
  no_init:
    'The pack has no __init__.py: put it at the root of the archive, or into its one folder.',
  no_mapping:
    'The pack declares no host nodes: define NODE_CLASS_MAPPINGS, comfy_entrypoint or WEB_DIRECTORY.',
  mapping_unknown:
    'The names of the host nodes are made at run time: list them in node_list.json (kiln check --write-node-list writes it), or report the host nodes by POST.',
  mapping_rest:
    'More host nodes may be added at run time: list all in NODE_CLASS_MAPPINGS, or report the host nodes by POST.',
  name_unresolved:
    'The name of a host node is made at run time: write it as text, or report the host nodes by POST.',
  own_module_missing:
    'The pack imports from itself what the archive lacks: add the file (case counts, submodules too) and publish again.',
  import_raised: 'The pack raises an exception while it is imported: mend it and publish again.',
  unparsable: 'A file of the pack is no Python that can be read: mend it and publish again.',
  archive: 'The archive was rejected or never came: mend it and publish the version again.',
  timed_out: 'The service failed, not the pack: an operator can have it read again.',
  reported: 'Whoever reported the host nodes says that they could not be read.',
  budget: OVER_LIMITS,
  crashed: OVER_LIMITS,
  entrypoint_ignored:
    'The host never calls comfy_entrypoint beside a NODE_CLASS_MAPPINGS: put all host nodes into one of the two.',
  built_in_name:
    'The host ignores a node with the name of a built-in one: give it a name of its own.',
}

const FAMILY = /^(archive|budget)_.*$/

/** The sentence of a code, after what it is about; the code itself where there is no sentence. */
export const adviceOf = (code: string, detail = ''): string => {
  const advice = ADVICE[code.replace(FAMILY, '$1')] ?? code
  return detail === '' ? advice : `${detail}: ${advice}`
}
