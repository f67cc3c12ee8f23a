import { Type } from 'typebox'

import type { AnyImageKind, ImageKind } from '../../domain/image-task/image-kind.ts'
import { errors } from '../../domain/shared/errors.ts'
import { CUSTOM, CUSTOM_SEGMENT, customName, customPath } from '../../domain/task/custom-kind.ts'
import { TemplateList } from '../../domain/template/custom-kind.ts'
import { orDryRun, DryRunQuery } from '../task/dry-run.ts'
import type { ImageTaskDeps } from '../image-task/create.ts'
import { EXAMPLE_ID, EXAMPLE_URL } from '../image-task/examples.ts'
import {
  CREATION_ERRORS,
  Data,
  linksOf,
  makeCreationRoute,
  makeTaskRoutes,
} from '../image-task/routes.ts'
import { makeSchemas } from '../openapi/schemas.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import { defineRoute, type Route, type Variants } from '../route.ts'
import type { CustomKinds } from './kinds.ts'

export interface TemplateDeps extends ImageTaskDeps {
  customKinds: CustomKinds
}

const TAG = { tag: 'Templates', auth: 'required' } as const
const PATH = customPath(':name')
const OfTemplate = Type.Object({
  name: Type.String({ description: 'Name of the template.' }),
})

/** The routes of the kinds that templates make: those there are, and of each what any kind has. */
export const makeTemplateRoutes = (deps: TemplateDeps): Route[] => [
  list(deps),
  creation(deps),
  ...makeTaskRoutes(deps, {
    ...TAG,
    path: PATH,
    segment: CUSTOM_SEGMENT,
    listed: 'made with a template',
    params: OfTemplate,
    madeOf: kindsOf,
    readOf: kindsOf,
  }),
]

/** A task is read and cancelled also when its template is gone. */
const kindsOf = ({ name }: Readonly<Record<string, unknown>>): AnyImageKind[] => [
  `${CUSTOM}${String(name)}`,
]

const nameOf = ({ kind }: ImageKind): string => customName(kind) ?? ''

const list = ({ customKinds }: TemplateDeps): Route =>
  defineRoute({
    ...TAG,
    method: 'get',
    path: '/templates',
    summary: 'List the templates that tasks can be made with',
    description:
      'Kinds that an operator has added. Each takes what its `body` says, a JSON Schema, on its `path`.',
    responses: {
      200: {
        description: 'The templates by name.',
        schema: TemplateList,
        example: {
          templates: [
            {
              name: 'portrait',
              kind: 'custom/portrait',
              path: '/templates/portrait/tasks',
              body: {
                type: 'object',
                required: ['image'],
                properties: {
                  image: { type: 'string' },
                  prompt: { type: 'string', default: 'soft light' },
                  strength: { type: 'number', minimum: 0, maximum: 100, default: 55 },
                },
              },
            },
          ],
        },
      },
    },
    errors: [],
    handler: () =>
      Promise.resolve({
        status: 200,
        body: { templates: customKinds.list().map(toListed) },
      }),
  })

const toListed = ({ kind, path, body }: ImageKind) => ({
  name: customName(kind) ?? '',
  kind,
  path,
  body: makeSchemas().show(body, 'parameter'),
})

/** The creation of any such task, which each kind serves by a route of its own. */
const creation = (deps: TemplateDeps): Route => ({
  ...defineRoute({
    ...TAG,
    method: 'post',
    path: PATH,
    summary: 'Run a template',
    description:
      'Its body is that of the template, which GET /templates and the path of each in this document describe.',
    params: OfTemplate,
    query: DryRunQuery,
    quota: 'create',
    body: {
      ...SMALL_BODY,
      schema: Type.Object({}, { additionalProperties: true }),
      examples: { address: { image: EXAMPLE_URL } },
    },
    responses: {
      200: {
        description: 'The task, in CREATED; of a dry run its price.',
        schema: orDryRun(Data),
        headers: ['Location', 'X-Credits-Used'],
        example: { data: { task_id: EXAMPLE_ID, status: 'CREATED', generated: [] } },
      },
    },
    errors: ['template_not_found', ...CREATION_ERRORS],
    handler: ({ params }) => Promise.reject(errors.templateNotFound(params.name)),
  }),
  variants: makeVariants(deps),
})

const makeVariants = (deps: TemplateDeps): Variants => {
  const { customKinds } = deps
  const routes = new WeakMap<ImageKind, Route>()
  const routeOf = (kind: ImageKind): Route => {
    const route = routes.get(kind) ?? makeVariant(deps, kind)
    routes.set(kind, route)
    return route
  }
  let listed: { kinds: readonly ImageKind[]; routes: readonly Route[] } | undefined
  return {
    list() {
      const kinds = customKinds.list()
      if (listed?.kinds !== kinds) listed = { kinds, routes: kinds.map(routeOf) }
      return listed.routes
    },
    get({ name }) {
      const kind = customKinds.list().find((each) => nameOf(each) === name)
      if (!kind) throw errors.templateNotFound(String(name))
      return routeOf(kind)
    },
  }
}

const makeVariant = (deps: TemplateDeps, kind: ImageKind): Route => {
  const files = [...kind.images, ...(kind.videos ?? [])].map((name) => [name, EXAMPLE_URL])
  return {
    ...makeCreationRoute(deps, kind, {
      examples: { address: Object.fromEntries(files) as object },
      links: linksOf(PATH, { name: nameOf(kind) }),
    }),
    ...TAG,
    operationId: `run_${nameOf(kind)}`,
  }
}
