import type { components, paths } from '../../../client/generated/openapi.ts'

/** A named schema of the document, such as `Schema<'Node'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What a GET of a path answers, such as `Answer<'/tasks'>`. */
export type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } }
}
  ? Body
  : never
