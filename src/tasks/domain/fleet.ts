import { Type, type Static } from 'typebox'

import { count, instant, uuid } from '../../platform/domain/schema-fields.ts'

/** States of an instance, the one that explains most where several are true. */
export const InstanceState = Type.Enum([
  'ready',
  'busy',
  'resting',
  'stalled',
  'draining',
  'quarantined',
  'gone',
])
export type InstanceState = Static<typeof InstanceState>

const PlacedTask = Type.Object({
  id: uuid('Id of the task.'),
  kind: Type.String(),
  template: Type.String(),
  since: instant('When it was placed there.'),
})
const EndCount = Type.Object({
  end: Type.String({ description: '`done`, or why the task went elsewhere.' }),
  count: count('Placements that ended so.'),
})
const Instance = Type.Object({
  name: Type.String(),
  engine: Type.Optional(Type.String({ description: 'Engine of ENGINES_HTTP; absent: ComfyUI.' })),
  state: Type.Unsafe<InstanceState>({
    ...InstanceState,
    description:
      'gone: silent, or in no setting. quarantined: needs a restart. stalled: late to respond, or without progress. resting: was out of memory, or had an error of its device. draining: is given no more tasks, or no setting names it any more.',
  }),
  is_drained: Type.Boolean({ description: 'True: it is given no more tasks.' }),
  version: Type.Optional(Type.String({ description: 'Version of its ComfyUI.' })),
  seen_at: instant('Its last response, to half a minute.'),
  template: Type.Optional(
    Type.String({
      description:
        'Template that it ran last; absent after a restart, or when it was out of memory.',
    }),
  ),
  models: Type.Array(Type.String(), {
    description:
      'Models of that template, which are loaded: tasks of that template go there first, also behind one prompt more.',
  }),
  tasks: Type.Array(PlacedTask, { description: 'Its open tasks, the oldest first.' }),
  last_error: Type.Optional(
    Type.String({ description: 'Why it does not respond, else why a task last went elsewhere.' }),
  ),
  last_error_at: Type.Optional(
    instant('Since when it does not respond, else when that task was placed there.'),
  ),
  ends: Type.Array(EndCount, { description: 'Of the last 24 hours, the most frequent first.' }),
})

export const ModelFile = Type.Object({
  file: Type.String(),
  folder: Type.Optional(Type.String({ description: 'Where it belongs, below `models`.' })),
  url: Type.Optional(Type.String({ description: 'Where it comes from.' })),
  digest: Type.Optional(Type.String({ description: 'Such as `sha256:` and its digits.' })),
})
/** File of a model that a template needs. */
export type ModelFile = Static<typeof ModelFile>

const FleetTemplate = Type.Object({
  name: Type.String(),
  version: Type.Optional(
    Type.String({ description: 'SHA-256 of its file, followed by its map; absent of an engine.' }),
  ),
  warnings: Type.Array(Type.String(), {
    description: 'What it does that its author may not mean: it is run all the same.',
  }),
  models: Type.Array(Type.String(), { description: 'Files of models that it needs.' }),
  model_files: Type.Array(ModelFile, {
    description: 'The same files; address and digest are those of the editor’s form.',
  }),
  able: count('Instances that can run it and respond.'),
  lacking: Type.Array(Type.Object({ instance: Type.String(), issues: Type.Array(Type.String()) }), {
    description: 'Instances that cannot and are not gone, with what is missing there.',
  }),
})

const Waiting = Type.Object({
  template: Type.String({ description: 'Kind that their templates are named after.' }),
  tasks: count('Tasks without an instance; of all open ones 10,000 are counted.'),
  oldest_seconds: Type.Number({ description: 'Time since the last move of the oldest.' }),
  reasons: Type.Array(
    Type.Object({
      reason: Type.String({ description: 'What an instance lacks.' }),
      tasks: count('Tasks that wait for it.'),
    }),
    {
      description: 'Why no instance takes them, the most frequent first; empty: one is only busy.',
    },
  ),
})
export type Waiting = Static<typeof Waiting>

const CrashedTask = Type.Object({
  id: uuid('Id of the task.'),
  kind: Type.String(),
  template: Type.String(),
  instances: Type.Array(Type.String(), {
    description: 'Instances that reported an error of their device for it, in their order.',
  }),
  error: Type.String({ description: 'Node and first words of the last one.' }),
  at: instant('When it was last placed.'),
})
export type CrashedTask = Static<typeof CrashedTask>

/** Response of GET /admin/instances. */
export const Fleet = Type.Object({
  instances: Type.Array(Instance, { description: 'By name.' }),
  templates: Type.Array(FleetTemplate, { description: 'By name.' }),
  waiting: Type.Array(Waiting, { description: 'The longest queue first.' }),
  crashed: Type.Array(CrashedTask, {
    description:
      'Tasks of the last 24 hours that ended with `engine_crashed`, the newest first, at most 20.',
  }),
})
export type Fleet = Static<typeof Fleet>
export type FleetInstance = Static<typeof Instance>

/** Template on an instance: files of models that it loads, and why it cannot be run there. */
export interface Ability {
  models: string[]
  version?: string
  warnings?: string[]
  /** Absent: a worker of an earlier release has read it. */
  model_files?: ModelFile[]
  issues: string[]
}
export type Abilities = Readonly<Record<string, Ability>>

export const DrainedInstance = Type.Object({
  name: Type.String(),
  is_drained: Type.Boolean(),
  changed: Type.Boolean({ description: 'False: it was so already.' }),
})
