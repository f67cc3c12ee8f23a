import { isObject } from '../../../platform/domain/is-object.ts'
import type { ModelFile } from '../../../tasks/domain/fleet.ts'
import { describeModel, folderOf, isModel } from '../../../tasks/domain/model-file.ts'
import type { Template } from './template.ts'

/** Lists the model files that the graph of a template or its map names. */
export const listModels = ({ graph, marks, values, workflow }: Template): ModelFile[] => {
  const sources = workflow ? listSources(workflow) : []
  const models = Object.entries(graph).flatMap(([id, { class_type: type, inputs }]) =>
    Object.entries(inputs).flatMap(([input, value]) => {
      const marked = marks.filter((mark) => mark.node === id && mark.input === input)
      const mapped = marked.flatMap(({ name }) => Object.values(values[name] ?? {}))
      const folder = folderOf(type, input)
      return [value, ...mapped].flatMap((file) =>
        isModel(file) ? [describeModel(file, folder, sources)] : [],
      )
    }),
  )
  const byFile = new Map(models.map((model) => [model.file, model]))
  return [...byFile.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Lists the models that the editor's form names, also in the nodes of its subgraphs. */
const listSources = (workflow: Record<string, unknown>): Record<string, unknown>[] => {
  const { definitions } = workflow
  const graphs = [workflow, ...listObjects(isObject(definitions) && definitions['subgraphs'])]
  return graphs.flatMap(({ models, nodes }) => [
    ...listObjects(models),
    ...listObjects(nodes).flatMap(({ properties }) =>
      listObjects(isObject(properties) && properties['models']),
    ),
  ])
}

const listObjects = (list: unknown) =>
  (Array.isArray(list) ? (list as unknown[]) : []).filter(isObject)

/** Says where on an instance a model belongs, and where it comes from; empty where neither is known. */
export const adviseModel = ({ folder, url, digest }: ModelFile): string => {
  const place = folder === undefined ? [] : [`put it into models/${folder}`]
  const advice = [
    ...place,
    ...(url === undefined ? [] : [`from ${url}`]),
    ...(digest === undefined ? [] : [digest]),
  ]
  return advice.length > 0 ? `: ${advice.join(', ')}` : ''
}
