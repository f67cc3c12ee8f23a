import type { ExtractedNode } from '../inspection.ts'

/** A node of which nothing is known. */
export const UNKNOWN_NODE: ExtractedNode = {
  name: '',
  category: '',
  description: '',
  function: '',
  deprecated: false,
  experimental: false,
  output_node: false,
  input_types: '{"required":{}}',
  return_types: '[]',
  return_names: '[]',
  output_is_list: [],
  dynamic: [
    'category',
    'description',
    'function',
    'output_node',
    'input_types',
    'return_types',
    'return_names',
    'output_is_list',
  ],
}
