/** State of a job, as the screen shows it. */
export interface DemoState {
  name: string
  status: string
  /** Milliseconds since it was submitted; stands still once it has ended. */
  elapsedMs: number
}

export interface Progress {
  show(states: DemoState[]): void
}

/** Stream that the demonstration is written to. */
export type Out = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>

/** A table that redraws itself on a terminal; elsewhere a line for each change of a status. */
export const makeProgress = (out: Out): Progress =>
  out.isTTY ? makeLiveTable(out) : makeChangeLines(out)

/** The name, status and time of a job in columns. */
export const formatState = ({ name, status, elapsedMs }: DemoState): string =>
  `  ${name.padEnd(20)} ${status.padEnd(14)} ${(elapsedMs / 1000).toFixed(1).padStart(6)} s`

const makeLiveTable = (out: Out): Progress => {
  let drawn = 0
  return {
    show: (states) => {
      // Cursor to the first of the lines drawn before; each is cleared as it is written again.
      const up = drawn === 0 ? '' : `\u001B[${drawn}A`
      out.write(`${up}${states.map((state) => `\u001B[2K${formatState(state)}\n`).join('')}`)
      drawn = states.length
    },
  }
}

const makeChangeLines = (out: Out): Progress => {
  const shown = new Map<string, string>()
  return {
    show: (states) => {
      for (const state of states) {
        if (shown.get(state.name) === state.status) continue
        shown.set(state.name, state.status)
        out.write(`${formatState(state)}\n`)
      }
    },
  }
}
