import { Type, type TObject, type TSchema } from 'typebox'

import { isObject } from '../platform/domain/is-object.ts'
import { makeOnce } from '../platform/domain/make-once.ts'
import { creationPath } from './domain/creation-path.ts'
import type { Creation, CreationResponse, TaskPlan } from './creation.ts'
import type { TaskDeps } from './deps.ts'

/** Members that an upstream takes beside those of the interface, by their names. */
export type UpstreamMembers = Readonly<Record<string, TSchema>>

type Deps = Pick<TaskDeps, 'engineOf' | 'upstreamMembers'>

/** Makes what finds a creation as it is now, with the members that its upstream takes beside its own. */
export const makeExtend = (deps: Deps) => {
  const extendBy = makeOnce((creation: Creation) =>
    makeOnce((members: UpstreamMembers) => extend(deps, creation, members)),
  )
  return (creation: Creation): Creation => {
    const members = deps.upstreamMembers?.(creation.path)
    return members ? extendBy(creation)(members) : creation
  }
}

/** Adds members to the schema of a body; its own stay as they are. */
export const addMembers = (schema: TSchema, members: UpstreamMembers): TObject => {
  const { type: _, properties, ...rules } = schema as TObject
  const further = Object.entries(members).filter(([name]) => !Object.hasOwn(properties, name))
  return Type.Object({ ...properties, ...Object.fromEntries(further) }, rules)
}

const extend = (deps: Deps, creation: Creation, members: UpstreamMembers): Creation => {
  const schema = addMembers(creation.schema, members)
  const own = (creation.schema as TObject).properties
  return {
    ...creation,
    schema,
    members,
    async plan(command) {
      const given = Object.entries(command.body as object)
      const isFurther = ([name]: [string, unknown]): boolean => !Object.hasOwn(own, name)
      const body = Object.fromEntries(given.filter((one) => !isFurther(one)))
      const plan = await creation.plan({ ...command, body })
      const engine = plan.engine ?? deps.engineOf(plan.kind, command.owner)
      // A video's kind, whose upstream gets the task, comes from its images.
      const taken = engine === 'vendor' ? deps.upstreamMembers?.(creationPath(plan.kind)) : {}
      const further = given.filter(isFurther)
      const passedOn = further.filter(([name]) => Object.hasOwn(taken ?? {}, name))
      const lost = further.filter((one) => !passedOn.includes(one)).map(([name]) => name)
      return {
        ...plan,
        settings: { ...plan.settings, ...Object.fromEntries(passedOn) },
        ...(lost.length > 0 && warnOf(plan, lost)),
      }
    },
  }
}

/** Says in the response which members have no effect. */
const warnOf = (plan: TaskPlan, names: readonly string[]): Pick<TaskPlan, 'respond'> => ({
  respond: async (made) => {
    const response = await plan.respond(made)
    const sentence = `No effect: ${names.join(', ')}. The engine of this task does not take them.`
    return { ...response, body: addWarning(response, sentence) }
  },
})

/** The record of an image stands in `data`. */
const addWarning = ({ body }: CreationResponse, sentence: string): object => {
  const { data } = body as { data?: unknown }
  const record = (isObject(data) ? data : body) as { warnings?: string[] }
  const warned = { ...record, warnings: [...(record.warnings ?? []), sentence] }
  return isObject(data) ? { ...body, data: warned } : warned
}
