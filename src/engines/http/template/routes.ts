import type { AdmissionRules } from '../../../tasks/db/admission.ts'
import { Type } from 'typebox'

import {
  ImageTaskKind,
  type AnyImageKind,
  type ImageKind,
} from '../../../tasks/domain/image/image-kind.ts'
import { VideoTaskKind } from '../../../tasks/domain/video/video-task.ts'
import { listSlots } from '../../../tasks/db/worker.ts'
import { withinDeadline } from '../../../platform/db/client.ts'
import type { EngineName } from '../../../tasks/domain/engine.ts'
import type { Abilities } from '../../../tasks/domain/fleet.ts'
import { listServing } from '../../db/fleet.ts'
import { makeOnce } from '../../../platform/domain/make-once.ts'
import { errors } from '../../../platform/domain/errors.ts'
import {
  CUSTOM,
  CUSTOM_SEGMENT,
  customName,
  customPath,
} from '../../../tasks/domain/custom-kind.ts'
import { isAllowed } from '../../../tasks/create-image.ts'
import { ownerOf } from '../../../platform/http/access/caller.ts'
import { makeCustomKind } from '../../domain/template/custom-kind.ts'
import type { TaskDeps } from '../../../tasks/deps.ts'
import { EXAMPLE_URL } from '../../../tasks/http/image/examples.ts'
import { linksOf, makeCreationRoute, makeTaskRoutes } from '../../../tasks/http/image/routes.ts'
import type { LiveDeps } from '../../../platform/http/live/prefer.ts'
import { makeSchemas } from '../../../platform/http/openapi/schemas.ts'
import { defineRoute, ok, type Route } from '../../../platform/http/route.ts'
import type { CustomKinds } from '../../custom-kinds.ts'

export interface TemplateDeps extends TaskDeps {
  customKinds: CustomKinds
}

const TAG = { tag: 'Templates', auth: 'required' } as const
const PATH = customPath(':name')
const name = Type.String({ description: 'Name of the template.' })
const OfTemplate = Type.Object({ name })

/** The routes of the kinds that templates make: those there are, and of each what any kind has. */
export const makeTemplateRoutes = (deps: TemplateDeps & LiveDeps & AdmissionRules): Route[] => [
  list(deps),
  makeTemplateCreationRoute(deps),
  ...makeTaskRoutes(deps, {
    ...TAG,
    path: PATH,
    segment: CUSTOM_SEGMENT,
    params: OfTemplate,
    // A task is read and cancelled also when its template is gone.
    kindsOf: (params): AnyImageKind[] => [`${CUSTOM}${String(params['name'])}`],
  }),
]

const list = ({ sql, engineOf, customKinds }: TemplateDeps): Route =>
  defineRoute({
    ...TAG,
    method: 'get',
    path: '/templates',
    summary: 'List the templates that tasks can be made with',
    responses: ok('Kinds that an operator has added, by name.', TemplateList, {
      example: { templates: [], unserved: [] },
    }),
    errors: [],
    handler: async (request) => {
      const owner = ownerOf(request)
      const kinds = customKinds.list().filter((kind) => isAllowed(kind, owner))
      const reads = [listSlots(sql), listServing(sql)] as const
      const [slots, serving] = await withinDeadline(sql, Promise.all(reads))
      const canRun = (kind: string, engine: EngineName): boolean =>
        (slots[engine] ?? 0) > 0 &&
        (engine === 'local' ||
          engine === 'vendor' ||
          serving.some((one) => one.engine === engine && isAble(one.abilities, kind, engine)))
      const unserved = [
        ...kinds.map(({ kind, engine = 'comfyui' }) => ({ kind, engine })),
        ...OWN_KINDS.map((kind) => ({ kind, engine: engineOf(kind, owner) })),
      ].flatMap(({ kind, engine }) => (canRun(kind, engine) ? [] : [kind]))
      return { status: 200, body: { templates: kinds.map(toListed), unserved } }
    },
  })

const OWN_KINDS = [...ImageTaskKind.enum, ...VideoTaskKind.enum]

/** True where an instance can run a kind: a template of its own that it has not read yet made it one. */
const isAble = (abilities: Abilities, kind: string, engine: EngineName): boolean => {
  if (customName(kind) !== undefined || engine !== 'comfyui')
    return (abilities[kind]?.issues.length ?? 0) === 0
  const template = /^(img|start-end)2video$/.test(kind) ? 'text2video' : kind
  return Object.entries(abilities).some(
    ([name, { issues }]) => name.split('+')[0] === template && issues.length === 0,
  )
}

const TemplateList = Type.Object({
  templates: Type.Array(
    Type.Object({
      name,
      kind: Type.String({ description: 'Kind of its tasks in lists.' }),
      path: Type.String({ description: 'Path on which its tasks are made.' }),
      body: Type.Object(
        {},
        { additionalProperties: true, description: 'JSON Schema of what that path takes.' },
      ),
    }),
  ),
  unserved: Type.Array(Type.String(), {
    description:
      'Kinds, also those of the interface, that nothing can run now: tasks of them wait.',
  }),
})

const toListed = ({ kind, path, body }: ImageKind) => ({
  name: customName(kind) ?? '',
  kind,
  path,
  body: makeSchemas().show(body, 'parameter'),
})

/** Any template, for the documentation; each has a route of its own that serves it. */
const ANY: ImageKind = {
  ...makeCustomKind({ id: 0, name: ':name', members: {} }),
  title: 'Run a template',
  description:
    'The body is that of the template: GET /templates has its JSON Schema, and this document a path for each.',
  body: Type.Object({}, { additionalProperties: true }),
}

/** The route on which tasks of the kinds are made that templates are. */
const makeTemplateCreationRoute = (deps: TemplateDeps): Route => {
  const { customKinds } = deps
  const routeOf = makeOnce((kind: ImageKind) => makeVariant(deps, kind))
  const routesOf = makeOnce((kinds: readonly ImageKind[]) => kinds.map(routeOf))
  const any = makeVariant(deps, ANY)
  return {
    ...any,
    params: OfTemplate,
    errors: [...any.errors, 'template_not_found', 'template_not_allowed'],
    variants: {
      list: () => routesOf(customKinds.list()),
      get({ name }) {
        const kind = customKinds.list().find((each) => customName(each.kind) === name)
        const absent = customKinds.isAwaited(String(name)) ? 'templateAwaited' : 'templateNotFound'
        if (!kind) throw errors[absent](String(name))
        return routeOf(kind)
      },
    },
  }
}

const makeVariant = (deps: TemplateDeps, kind: ImageKind): Route => {
  const { images, videos = [], lists = [] } = kind
  const files = [...images, ...videos].map((field) => [
    field,
    lists.includes(field) ? [EXAMPLE_URL] : EXAMPLE_URL,
  ])
  const custom = customName(kind.kind) ?? ''
  return {
    ...makeCreationRoute(deps, kind, {
      examples: { address: Object.fromEntries(files) as object },
      links: linksOf(PATH, { name: kind === ANY ? '$request.path.name' : custom }),
    }),
    ...TAG,
    operationId: kind === ANY ? 'run' : `run_${custom}`,
  }
}
