const OVER_LIMITS =
  'The pack could not be read within the limits: make it smaller or simpler, or report the host nodes by POST.'

/**
 * Ways out, by the code of a reason: why the host nodes of a pack could not be read, or why some may be missing. Codes of
 * one family (`archive_bad_crc`, `budget_steps`) share that of their first word, unless they have their own.
 */
export const ADVICE: Readonly<Record<string, string>> = {
  no_init:
    'The pack has no __init__.py: put it at the root of the archive, or into its one folder.',
  no_mapping:
    'The pack declares no host nodes: define NODE_CLASS_MAPPINGS, comfy_entrypoint or WEB_DIRECTORY.',
  mapping_unknown:
    'The names of the host nodes are made at run time: list them in node_list.json (kiln check --write-node-list writes it), or report the host nodes by POST.',
  node_list:
    'The names are those of node_list.json, and more cannot be read: nothing else has to be done, and a report by POST adds the fields.',
  node_list_invalid:
    'node_list.json is not read: it must be one JSON object, from the name of each host node to its description, without a comma after the last entry.',
  mapping_rest:
    'More host nodes may be added at run time: list all in NODE_CLASS_MAPPINGS or get_node_list, or report the host nodes by POST.',
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
  budget_rounds:
    'A while loop was left after 2,000 rounds: let it end sooner, or make it a for loop, which has 20,000.',
  crashed: OVER_LIMITS,
  entrypoint_ignored:
    'The host never calls comfy_entrypoint beside a NODE_CLASS_MAPPINGS: put all host nodes into one of the two.',
  built_in_name:
    'The host ignores a node with the name of a built-in one: give it a name of its own.',
}

const FAMILY = /^(archive|budget)_.*$/

/** The sentence of a code, after what it is about; the code itself where there is no sentence. */
export const adviceOf = (code: string, detail = ''): string => {
  const advice = ADVICE[code] ?? ADVICE[code.replace(FAMILY, '$1')] ?? code
  return detail === '' ? advice : `${detail}: ${advice}`
}
