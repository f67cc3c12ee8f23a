import type { NodesSection } from './inspection.ts'

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
    'The name of a host node is made at run time: write it as text (node_id in a schema), or report the host nodes by POST.',
  value_unknown:
    'What stands under a name in NODE_CLASS_MAPPINGS is made at run time: map the name to the class itself, or report the host nodes by POST.',
  entrypoint_rejected:
    'The host takes no node of the pack: comfy_entrypoint has to return a ComfyExtension, whose async get_node_list returns a list of classes.',
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
  mapping_of_host:
    'NODE_CLASS_MAPPINGS is that of the host, whose module is named nodes: write from .nodes import NODE_CLASS_MAPPINGS.',
  display_names_unread:
    'The host shows no display name of the pack: make it a dict of names and display names.',
  entry_ends:
    'The host ends loading the pack at an entry of NODE_CLASS_MAPPINGS that is no class: map the name to the class.',
  entry_no_node:
    'The host shows no node for an entry of NODE_CLASS_MAPPINGS that is no node class: leave it out.',
  entry_instance: 'The host cannot run an instance as a node: map the name to the class itself.',
  schema_missing:
    'The host ends loading the pack at a class of get_node_list without define_schema: give it one, or leave it out.',
  node_incomplete:
    'The host shows no node whose class lacks INPUT_TYPES or RETURN_TYPES: define both.',
  input_types_unbound:
    'The host calls INPUT_TYPES without an argument, and shows no node where that raises: write @classmethod above it.',
  node_without_function:
    'A node cannot run without a FUNCTION that names a method of its class: mend the name.',
  needs_python:
    'A host with an older Python cannot load the pack: write it another way, or say so in requires-python.',
  web_directory_missing:
    'The archive lacks that folder, so that the host shows nothing of it: put it in, or correct WEB_DIRECTORY.',
  elsewhere: 'A host without it cannot load the pack: import it within try, or use something else.',
}

const FAMILY = /^(archive|budget)_.*$/

/** The sentence of a code, after what it is about; the code itself where there is no sentence. */
export const adviceOf = (code: string, detail = ''): string => {
  const advice = ADVICE[code] ?? ADVICE[code.replace(FAMILY, '$1')] ?? code
  return detail === '' ? advice : `${detail}: ${advice}`
}

/** The way out of each reason, but for one that a hint says more of; then the hints. */
export const adviseOn = ({
  how,
  reason,
  reasons,
  hints = [],
}: Pick<NodesSection, 'how' | 'reason' | 'reasons' | 'hints'>): string[] => {
  const isListed = how === 'node_list'
  const all = [reason ?? [], reasons].flat()
  const left = all.filter((code) => !(isListed && code.startsWith('mapping_')))
  const codes = new Set(isListed ? ['node_list', ...left] : left)
  const said = [...codes].filter((code) => !hints.some((hint) => hint.endsWith(adviceOf(code))))
  const open = isListed
    ? hints.filter((hint) => !hint.endsWith(adviceOf('mapping_unknown')))
    : hints
  return [...said.map((code) => `${code}: ${adviceOf(code)}`), ...open]
}
