import { FAMILIES } from '../../src/tasks/domain/family.ts'
import { OPEN_STATES, TaskState } from '../../src/tasks/domain/task-item.ts'

const [WIDTH, HEIGHT] = [360, 412]

/** Top left corners of the states. */
const PLACES: Record<TaskState, readonly [x: number, y: number]> = {
  waiting: [112, 8],
  queued: [112, 112],
  running: [112, 216],
  done: [0, 348],
  failed: [124, 348],
  cancelled: [248, 348],
}

const { image, video } = FAMILIES

/** Words of the two families on the wire. */
const WORDS: Record<TaskState, string> = {
  waiting: `${image.words.created}, ${video.words.created}`,
  queued: `${image.words.created}, ${video.unbegun.at(-1)}`,
  running: `${image.words.running}, ${video.words.running}`,
  done: `${image.words.done}, ${video.words.done}`,
  failed: `${image.words.failed}, ${video.words.failed}`,
  cancelled: `${image.words.failed}, ${video.words.failed}`,
}

interface Way {
  from: readonly TaskState[]
  to: TaskState
  path: string
  says: string
  at: readonly [x: number, y: number]
}

/** Ways of a task; those to an end from every state that is open. */
const WAYS: readonly Way[] = [
  { from: ['waiting'], to: 'queued', path: 'M180 60V106', says: 'may begin', at: [188, 90] },
  {
    from: ['queued'],
    to: 'running',
    path: 'M180 164V210',
    says: 'a worker has it',
    at: [188, 194],
  },
  {
    from: ['queued', 'running'],
    to: 'waiting',
    path: 'M112 138H60M112 242H60V34H106',
    says: 'put back',
    at: [4, 138],
  },
  { from: ['running'], to: 'done', path: 'M150 268V308H56V342', says: '', at: [0, 0] },
  {
    from: OPEN_STATES,
    to: 'failed',
    path: 'M248 150H284M248 254H284M248 46H284V308H180V342',
    says: 'error, or deadline',
    at: [184, 330],
  },
  {
    from: OPEN_STATES,
    to: 'cancelled',
    path: 'M248 126H332M248 230H332M248 22H332V342',
    says: 'cancelled',
    at: [296, 14],
  },
]

/** A drawing of the states of a task, and of the ways between them. Its classes take the colours of a page that has it. */
export const drawStates = (): string => {
  const lost = TaskState.enum.filter((state) => state !== 'waiting' && !WAYS.some(leadsTo(state)))
  if (lost.length > 0)
    throw new Error(`no way leads to ${lost.join()}: add it to ${import.meta.filename}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${describe()}" font-family="sans-serif">
<defs><marker id="way-end" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="soft" d="M0 0L8 4L0 8z" fill="#857c72"/></marker></defs>
${WAYS.map(drawWay).join('\n')}
${TaskState.enum.map(drawState).join('\n')}
</svg>
`
}

const leadsTo =
  (state: TaskState) =>
  ({ to }: Way): boolean =>
    to === state

const describe = (): string =>
  WAYS.map(({ from, to }) => `${from.join(' or ')} to ${to}`).join('; ')

const drawWay = ({ path, says, at: [x, y] }: Way): string =>
  `<path class="way" d="${path}" fill="none" stroke="#857c72" stroke-width="1.5" marker-end="url(#way-end)"/>` +
  (says && `<text class="soft" x="${x}" y="${y}" font-size="12" fill="#857c72">${says}</text>`)

const drawState = (state: TaskState): string => {
  const [x, y] = PLACES[state]
  const width = OPEN_STATES.includes(state) ? 136 : 112
  const middle = x + width / 2
  return `<rect class="box" x="${x}.5" y="${y}.5" width="${width - 1}" height="51" rx="8" fill="#f7f5f2" stroke="#7d8694"/><text class="word" x="${middle}" y="${y + 22}" font-size="15" font-weight="600" text-anchor="middle" fill="#1c1b1a">${state}</text><text class="soft" x="${middle}" y="${y + 40}" font-size="10" text-anchor="middle" fill="#5d564f">${WORDS[state]}</text>`
}
