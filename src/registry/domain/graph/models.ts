import { Type, type Static } from 'typebox'

import { ModelFile } from '../../../tasks/domain/fleet.ts'
import {
  LOADERS,
  basename,
  describeModel,
  folderOf,
  isModel,
} from '../../../tasks/domain/model-file.ts'
import { isObject, type Json, type JsonObject } from '../comparison/read-json.ts'
import { EDITOR_NODES, type Graph, type GraphNode } from './graph.ts'

export const WorkflowModel = Type.Object(
  {
    ...ModelFile.properties,
    host_nodes: Type.Array(Type.String(), { description: 'Names of host nodes that name it.' }),
    instances: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Instances of ComfyUI that have it, as a worker has read within some minutes; for platform admins alone.',
      }),
    ),
  },
  { description: 'A file of a model that the workflow names.' },
)
export type WorkflowModel = Static<typeof WorkflowModel>

/** Most models that are listed: the largest published graphs have some twenty. */
const MODELS_MAX = 500

/** A file that a host node names, with the input where the form says it. */
type Named = readonly [file: Json, input: string]

/** Lists the models that a graph names, by their files: values of its host nodes, and those that the editor records beside them. */
export const listModels = (graph: Graph): WorkflowModel[] => {
  const sources = [...graph.models, ...graph.nodes.flatMap((node) => node.models)].map(toFields)
  const models = new Map<string, WorkflowModel>()
  const add = (file: Json, folder: string | undefined, hostNode?: string): void => {
    const known = isModel(file) ? models.get(file) : undefined
    if (!isModel(file) || (!known && models.size >= MODELS_MAX)) return
    const one = known ?? { ...describeModel(file, folder, sources), host_nodes: [] }
    models.set(file, one)
    if (hostNode !== undefined && !one.host_nodes.includes(hostNode)) one.host_nodes.push(hostNode)
  }
  for (const node of graph.nodes.filter(({ hostNode }) => !EDITOR_NODES.has(hostNode)))
    for (const [file, input] of listValues(node))
      add(file, folderOf(node.hostNode, input) ?? LOADERS.get(node.hostNode), node.hostNode)
  const named = new Set([...models.keys()].map(basename))
  for (const { name } of sources) if (isModel(name) && !named.has(name)) add(name, undefined)
  return [...models.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Values of widgets, and those within values that are objects, as loaders of several models have them. */
const listValues = ({ values }: GraphNode): Named[] => {
  const given: Named[] = Array.isArray(values)
    ? values.map((value): Named => [value, ''])
    : [...(values ?? [])].map(([input, value]): Named => [value, input])
  return given.flatMap(([value, input]): Named[] =>
    isObject(value) ? [...value.values()].map((one): Named => [one, input]) : [[value, input]],
  )
}

const toFields = (model: JsonObject): Record<string, Json> => Object.fromEntries(model)
