import { isObject, type Json } from '../comparison/read-json.ts'
import { isApiForm, readApiForm } from './api-form.ts'
import { isEditorForm, readEditorForm } from './editor-form.ts'
import type { Graph } from './graph.ts'

/** The expectation of a body, for the sentence that rejects another. */
export const EXPECTED =
  'a workflow as the host saves it (an object with a list "nodes") or exports it for its API (host nodes by id, each with "class_type")'

/** Reads a saved workflow in any of its forms; undefined for what is none. A request to the host holds one as `prompt`. */
export const readGraph = (value: Json): Graph | undefined => {
  if (isEditorForm(value)) return readEditorForm(value)
  if (isApiForm(value)) return readApiForm(value)
  const prompt = isObject(value) ? value.get('prompt') : undefined
  return prompt !== undefined && isApiForm(prompt) ? readApiForm(prompt) : undefined
}
