import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import type { CogHost } from '../../src/engines/cog/cog-host.ts'
import { recordRun } from '../../src/engines/db/placement.ts'
import { listOutputs, type EngineOutput } from '../../src/engines/domain/cog/output.ts'
import type { Prediction } from '../../src/engines/domain/cog/prediction.ts'
import type { EngineSchema } from '../../src/engines/domain/cog/schema.ts'
import { cut } from '../../src/engines/domain/engine-reason.ts'
import { SilentError } from '../../src/engines/origin.ts'
import { CUSTOM } from '../../src/tasks/domain/custom-kind.ts'
import { memberOf } from '../../src/tasks/domain/listed-file.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import type { FleetTask, MadeOutput } from './comfyui-place.ts'
import type { EngineDependencies } from './dependencies.ts'
import { followPrediction } from './engine-prediction.ts'
import { PlacementError, rejectFile } from './leave.ts'
import type { Chosen, HostTask } from './place.ts'
import { EngineError } from './render-attempt.ts'
import { runPlaced } from './run-placed.ts'
import { emptyFolder } from './upstream-task.ts'

/** A task for an engine of ENGINES_HTTP. */
export interface EngineTask<Made = unknown> extends HostTask<CogHost> {
  deps: EngineDependencies
  values: object
  files: FleetTask<Made>['files']
  copy: FleetTask<Made>['copy']
}

/**
 * Has an instance of an engine do a task. What an engine says of a prediction comes to a route of the api, which keeps it
 * in the row of the placement: so it is there whichever worker asks, and whenever.
 */
export const runOnEngine = async <Made>(
  given: Pick<EngineTask<Made>, 'deps' | 'task' | 'attempt' | 'values' | 'files' | 'copy'>,
): Promise<Made> => {
  const { name, version, resubmits } = given.deps.fleet
  const task: EngineTask<Made> = {
    ...given,
    template: { name: CUSTOM + name, version, limits: {} },
    scope: `engine:${name}`,
    setting: 'ENGINES_HTTP',
    resubmits,
    uploads: Object.entries(given.files).map(([field, { path, extension }]) => ({
      filename: `${field}.${extension}`,
      path,
    })),
    findIssues: async (instance) => {
      const { schema, issues } = await instance.readSchema()
      return schema ? findLacks(schema, given) : issues
    },
  }
  return await runPlaced<CogHost, EngineTask<Made>, Made>(task, run)
}

/** Finds members that an engine needs and the task has not, and files that it does not take. */
const findLacks = (
  { inputs }: EngineSchema,
  { values, files }: Pick<EngineTask, 'values' | 'files'>,
): string[] => {
  const named = new Set(Object.keys(files).map(memberOf))
  const given = new Set([...Object.keys(values), ...named])
  const missing = Object.keys(inputs).filter((name) => inputs[name] && !given.has(name))
  const unknown = [...named].filter((name) => !Object.hasOwn(inputs, name))
  return [
    ...missing.map((name) => `needs ${name}, which the kind has not`),
    ...unknown.map((name) => `has no input ${name}`),
  ]
}

const PACE_MS = 1000

const run = async <Made>(given: EngineTask<Made>, chosen: Chosen<CogHost>): Promise<Made> => {
  const { deps, attempt } = given
  const prediction = await followPrediction(given, chosen)
  const { status, error } = prediction
  if (status === 'canceled') throw new PlacementError('interrupted', 'somebody has cancelled it')
  await recordRun(deps.sql, { id: chosen.id, isSuccess: status === 'succeeded' })
  chosen.instance.noteEnd()
  deps.fleet.notifier.notify()
  // By this word an engine says that another attempt would only repeat it.
  const end = /^Final\b/.test(error) ? 'final' : 'failed'
  if (status !== 'succeeded') throw new PlacementError(end, cut(error))
  const silentSince = performance.now()
  for (;;)
    try {
      return await finish(given, chosen, prediction)
    } catch (failure) {
      if (!(failure instanceof SilentError)) throw failure
      if (performance.now() - silentSince >= deps.fleet.lostMs)
        throw new PlacementError('output_gone', failure.message)
      await sleep(PACE_MS, undefined, { signal: attempt.signal })
    }
}

/** Makes the result of a prediction that has succeeded. */
const finish = async <Made>(
  given: EngineTask<Made>,
  { id, instance }: Chosen<CogHost>,
  { output }: Prediction,
): Promise<Made> => {
  const { attempt, copy } = given
  const { schema } = await instance.readSchema()
  const outputs = listOutputs(output, schema?.output ?? { is: 'any' })
  if (outputs.length === 0) throw new PlacementError('failed', 'it has made nothing')
  attempt.report('fetching the results', 100, `${instance.name}/${id}`)
  const dir = join(attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  const made: MadeOutput[] = []
  for (const [index, one] of outputs.entries()) {
    const path = join(dir, `made-${index + 1}`)
    await fetchOutput(given, instance, one, path).catch(rejectFile)
    made.push({ path, name: one.name, isText: 'text' in one })
    failpoint('upstream.while-copying')
  }
  return await copy(made, dir).catch((error: unknown) => {
    throw error instanceof EngineError ? new PlacementError('failed', error.message) : error
  })
}

/** For a file of 512 MiB. */
const FILE_LIMITS = { maxBytes: 1024 * 2 ** 20, timeoutMs: 300_000, maxRedirects: 0 }

/** Fetches an output: of a data URL, of the engine's own address, or of any that the guard lets pass. */
const fetchOutput = async (
  { deps, attempt: { signal } }: EngineTask,
  instance: CogHost,
  output: EngineOutput,
  toFile: string,
): Promise<void> => {
  if ('text' in output) return await writeFile(toFile, output.text)
  const { url } = output
  if (url.startsWith('data:')) return await writeFile(toFile, readDataUrl(url))
  if (URL.canParse(url) && new URL(url).origin === new URL(instance.url).origin)
    return await instance.fetch(new URL(url).href, toFile, signal)
  await deps.outbound.download({ url, toFile, ...FILE_LIMITS, signal })
}

const readDataUrl = (url: string): Buffer => {
  const comma = url.indexOf(',')
  const data = url.slice(comma + 1)
  if (url.slice(0, comma).endsWith(';base64')) return Buffer.from(data, 'base64')
  try {
    return Buffer.from(decodeURIComponent(data))
  } catch {
    throw new PlacementError('failed', 'a data URL of its output cannot be read')
  }
}
