import type { FetchResponse } from 'openapi-fetch'

import type { components, paths } from '../../../client/src/generated/openapi.ts'

/** A named schema of the document, such as `Schema<'Node'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

export type Operation<
  Path extends keyof paths,
  Method extends string,
> = Method extends keyof paths[Path] ? NonNullable<paths[Path][Method]> : never

/** Body of a path's response, such as `Data<'/tasks'>`. */
export type Data<Path extends keyof paths, Method extends string = 'get'> = NonNullable<
  FetchResponse<Operation<Path, Method>, object, 'application/json'>['data']
>
