import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { SilentError } from '../../src/engines/origin.ts'
import type { Instance } from '../../src/engines/comfyui/instance.ts'
import { ADMISSION } from '../../src/platform/db/change-notification.ts'
import type { PromptEvents } from '../../src/engines/comfyui/events.ts'
import { recordInterrupt, recordRun } from '../../src/engines/db/placement.ts'
import { extraOf, fillTemplate } from '../../src/engines/domain/template/fill.ts'
import { releaseTemplates } from '../../src/tasks/db/release.ts'
import { readRejection } from '../../src/engines/domain/template/rejection.ts'
import type { SentPrompt } from '../../src/engines/domain/template/rejection.ts'
import { folderOf, readRunEnd, readRunSeconds } from '../../src/engines/domain/template/run-end.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { checkMarker } from './comfyui-keeper.ts'
import { moveOn } from './comfyui-move.ts'
import { listUploads, toFleetTask } from './comfyui-place.ts'
import type { FleetTask, MadeOutput, Task } from './comfyui-place.ts'
import { PlacementError, rejectFile } from './leave.ts'
import { OVER, putBackWhileSilent, TOO_LARGE } from './place.ts'
import type { Chosen } from './place.ts'
import { showPreview } from './preview.ts'
import { EngineError } from './render-attempt.ts'
import { runPlaced } from './run-placed.ts'
import { emptyFolder } from './upstream-task.ts'

/** Time in which a prompt whose response did not come may still show. */
const SHOW_MS = 30_000
/** Time that an interrupted prompt has to end. */
const INTERRUPT_MS = 60_000

/**
 * Has an instance of ComfyUI do a task: places it, unless an earlier attempt has, follows it to its end, and goes elsewhere
 * when it does not come. The id of a placement is ours and in the row before anything is sent, so that a worker that dies
 * anywhere leaves what the next one finds.
 */
export const runOnFleet = async <Made>(
  given: Parameters<typeof toFleetTask<Made>>[0],
): Promise<Made> => await runPlaced<Instance, FleetTask<Made>, Made>(toFleetTask(given), run)

const run = async <Made>(given: FleetTask<Made>, chosen: Chosen<Instance>): Promise<Made> => {
  const events = chosen.instance.listen(chosen.id, given.deps.fleet.stallMs)
  try {
    for (;;) {
      const entry = await follow(given, chosen, events)
      // Files that could not be fetched are there when the instance responds again.
      chosen.isNew = false
      try {
        return await finish(given, chosen, entry)
      } catch (error) {
        if (!(error instanceof SilentError)) throw error
      }
      await sleep(PACE_MS, undefined, { signal: given.attempt.signal })
    }
  } finally {
    events.close()
  }
}

/** Small pictures take less time than this. */
const QUICK_MS = 2000
const QUICK_PACE_MS = 100
const PACE_MS = 1000

/** Waits for the end of a prompt, which it sends unless the instance has it. Returns the entry of the history. */
const follow = async (
  given: Task,
  chosen: Chosen<Instance>,
  events: PromptEvents,
): Promise<Record<string, unknown>> => {
  const { deps, attempt } = given
  const { instance, id } = chosen
  const { lostMs } = deps.fleet
  let isSent = chosen.isNew
  let isTaken = isSent && (await submit(given, chosen))
  const checkStall = makeStallCheck(given, chosen, events)
  let startedAt = performance.now()
  let since = startedAt
  let silentSince: number | undefined
  for (;;) {
    try {
      const { state, entry } = await instance.find(id, since)
      silentSince = undefined
      if (state === 'ended') return entry
      if (state !== 'absent') {
        isTaken = true
        const waitedMs = performance.now() - startedAt
        if (state === 'pending' && waitedMs >= QUICK_MS) await moveOn(given, chosen, waitedMs)
        await checkStall(state)
      } else if (isTaken) throw new PlacementError('lost', await explainLoss(given, chosen))
      else if (!isSent) {
        // An earlier attempt has died before it could send the prompt.
        isSent = true
        isTaken = await submit(given, chosen)
        startedAt = performance.now()
      } else if (performance.now() - startedAt >= Math.min(SHOW_MS, lostMs))
        throw new PlacementError('unreachable', 'no response to a prompt')
    } catch (error) {
      if (!(error instanceof SilentError)) throw error
      silentSince ??= performance.now() - (instance.silence()?.ms ?? 0)
      await putBackWhileSilent(given)
      if (performance.now() - silentSince >= lostMs)
        throw new PlacementError('unreachable', error.message)
    }
    failpoint('upstream.between-polls')
    const paceMs = performance.now() - startedAt < QUICK_MS ? QUICK_PACE_MS : PACE_MS
    await sleep(paceMs, undefined, { signal: attempt.signal })
    since = performance.now() - paceMs / 2
  }
}

const explainLoss = async ({ deps }: Task, { instance }: Chosen<Instance>): Promise<string> =>
  (await checkMarker(deps, instance)) ? 'it has restarted' : 'somebody has removed the prompt'

/**
 * Makes the check of a prompt that has not ended: it reports how far that is, and interrupts it when its events have
 * stopped. One whose events never came is left to the deadline of its task.
 */
const makeStallCheck = (given: Task, chosen: Chosen<Instance>, events: PromptEvents) => {
  const { deps, attempt, task, template } = given
  const { id, instance } = chosen
  const { stallMs } = deps.fleet
  let interruptedAt: number | undefined
  return async (state: 'running' | 'pending'): Promise<void> => {
    events.renew()
    const percent = events.percentOf(Object.keys(template.graph).length)
    attempt.report(`${state} on ${instance.name}`, percent, `${instance.name}/${id}`)
    const preview = events.takePreview()
    if (preview) await showPreview(deps, task.id, preview)
    if (state === 'pending') {
      if (instance.stalledMs() < stallMs) return
      await instance.cancel(id)
      throw new PlacementError('moved', 'the prompt before it does not move')
    }
    if (interruptedAt !== undefined) {
      if (performance.now() - interruptedAt < Math.min(INTERRUPT_MS, stallMs)) return
      throw new PlacementError(
        'zombie',
        'it runs on although it was interrupted: it needs a restart',
      )
    }
    // A worker may have died between the record of its interrupt and the interrupt.
    if (!chosen.isInterrupted) {
      if (!events.isStalled()) return
      if ((await instance.find(id, performance.now())).state !== 'running') return
      if (!(await recordInterrupt(deps.sql, { id, task }))) throw new Error(OVER)
      chosen.isInterrupted = true
    }
    const facts = { task_id: task.id, instance: instance.name, placement: id }
    deps.log.warn(facts, 'a prompt is interrupted because its events have stopped')
    await instance.cancel(id)
    interruptedAt = performance.now()
  }
}

/** Sends the files and the prompt. False: it may have been taken, but no response says so. */
const submit = async (given: Task, { id, instance }: Chosen<Instance>): Promise<boolean> => {
  const { attempt, template, values } = given
  attempt.report(`sending to ${instance.name}`, 0, `${instance.name}/${id}`)
  try {
    const files: Record<string, string> = {}
    for (const { name, filename, path } of listUploads(given)) {
      const to = { path, filename, subfolder: folderOf(id), type: 'input' }
      const { status, body } = await instance.client.upload(to, attempt.signal)
      if (status === 413) throw new PlacementError('too_large', TOO_LARGE)
      const { name: stored, subfolder } = body
      if (typeof stored !== 'string') throw new SilentError(`responded with status ${status}`)
      files[name] = typeof subfolder === 'string' ? `${subfolder}/${stored}` : stored
    }
    const { classes } = await instance.readClasses(template)
    const prompt = fillTemplate(template, { values, files, prefix: folderOf(id) }, classes)
    failpoint('upstream.before-submit')
    return await sendPrompt(given, { id, instance, prompt })
  } catch (error) {
    throw error instanceof SilentError ? new PlacementError('unreachable', error.message) : error
  }
}

const sendPrompt = async (
  { deps, task, template, values, scope }: Task,
  { id, instance, prompt }: { id: string; instance: Instance } & Pick<SentPrompt, 'prompt'>,
): Promise<boolean> => {
  const body = { prompt, prompt_id: id, client_id: id, ...extraOf(template) }
  const response = await instance.client.post('/prompt', body).catch((error: unknown) => {
    if (!(error instanceof SilentError) || error.isUnsent) throw error
    failpoint('upstream.no-response')
  })
  if (!response) return false
  failpoint('upstream.after-response')
  const { host, hostname } = new URL(instance.url)
  const hidden = [instance.name, host, hostname]
  const sent = { template, prompt, values, settings: task.settings, hidden }
  const rejection = readRejection(response.status, response.body, sent)
  // A part of the graph may have been taken.
  if (rejection && response.status === 200) await instance.cancel(id)
  if (rejection) throw new PlacementError(rejection.failure, rejection.detail, rejection.advice)
  if (response.status !== 200) throw new SilentError(`responded with status ${response.status}`)
  await deps.breaker?.succeed(scope, { onlyOpen: true })
  return true
}

/** Makes the result of a run that has ended. */
const finish = async <Made>(
  { deps, attempt, template, copy }: FleetTask<Made>,
  { id, instance, isInterrupted }: Chosen<Instance>,
  entry: Record<string, unknown>,
): Promise<Made> => {
  const end = readRunEnd(entry, { results: template.results, id })
  await recordRun(deps.sql, { id, isSuccess: end.failure === undefined })
  deps.fleet.notifier.notify()
  if (
    template.limits.at_once &&
    (await releaseTemplates(deps.sql, { [template.name]: 1 }, template.name))
  )
    deps.notifyChange(ADMISSION)
  const seconds = readRunSeconds(entry)
  if (seconds !== undefined) deps.metrics?.fleetRuns.observe({ template: template.name }, seconds)
  if (end.failure === 'interrupted' && isInterrupted)
    throw new PlacementError('stalled', `its events had stopped: ${end.detail}`)
  if (end.failure) throw new PlacementError(end.failure, end.detail)
  attempt.report('fetching the results', 100, `${instance.name}/${id}`)
  const dir = join(attempt.scratchDir, 'copy')
  await emptyFolder(dir)
  const made: MadeOutput[] = []
  for (const [index, output] of end.outputs.entries()) {
    const path = join(dir, `made-${index + 1}`)
    await instance.client.fetch(output, path, attempt.signal).catch(rejectFile)
    made.push({ path, name: output.name, isText: 'text' in output })
    failpoint('upstream.while-copying')
  }
  return await copy(made, dir).catch((error: unknown) => {
    throw error instanceof EngineError ? new PlacementError('failed', error.message) : error
  })
}
