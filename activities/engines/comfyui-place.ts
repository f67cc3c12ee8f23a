import type { Instance } from '../../src/engines/comfyui/instance.ts'
import type { Template } from '../../src/engines/domain/template/template.ts'
import type { Values } from '../../src/engines/domain/template/values.ts'
import type { ComfyDependencies } from './dependencies.ts'
import type { HostTask } from './place.ts'

export interface FleetTask<Made> extends HostTask<Instance> {
  deps: ComfyDependencies
  template: Template
  values: Values
  /** By the names of marks. */
  files: Readonly<Record<string, { path: string; extension: string }>>
  /** Makes results of what an instance has made. Throws an EngineError when that is damaged. */
  copy(outputs: readonly MadeOutput[], dir: string): Promise<Made>
}

/** An output of a run that was fetched. */
export interface MadeOutput {
  path: string
  /** Name that the template gives to it. */
  name: string | undefined
  isText: boolean
}

/** A task whose result is of no matter. */
export type Task = FleetTask<unknown>

/** Members that are the same for all tasks of the fleet. */
type Shared = 'scope' | 'setting' | 'uploads' | 'awaits' | 'findIssues'

export const toFleetTask = <Made>(given: Omit<FleetTask<Made>, Shared>): FleetTask<Made> => ({
  ...given,
  scope: 'engine:comfyui',
  setting: 'COMFYUI_URLS',
  uploads: listUploads(given),
  awaits: given.isEarlier ? undefined : given.template.name,
  findIssues: async (instance) => (await instance.readClasses(given.template)).issues,
})

/** Files that the template takes, under the names of their marks. */
export const listUploads = ({
  template: { marks },
  files,
}: Pick<FleetTask<unknown>, 'template' | 'files'>) =>
  Object.entries(files)
    .filter(([name]) => marks.some((mark) => mark.name === name))
    .map(([name, { path, extension }]) => ({ name, filename: `${name}.${extension}`, path }))
