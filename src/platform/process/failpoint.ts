/** Lines at which a fault test may kill the process (docs/reliability.md says what each window is). */
export type FailpointName =
  | 'create.before-commit'
  | 'create.after-commit'
  | 'create.after-start'
  | 'render.after-output'
  | 'render.in-child'
  | 'upstream.before-submit'
  | 'upstream.after-response'
  | 'upstream.after-store'
  | 'upstream.between-polls'
  | 'upstream.while-copying'
  | 'upstream.no-response'
  | 'upstream.before-forget'
  | 'upstream.after-forget'
  | 'comfyui.after-placement'
  | 'comfyui.before-clean-up'
  | 'move.before-commit'
  | 'move.after-commit'
  | 'upload.mid-body'
  | 'archive.after-store'
  | 'archive.before-commit'
  | 'archive.after-commit'
  | 'inspect.before-results'
  | 'inspect.after-results'
  | 'check.before-store'
  | 'check.after-store'
  | 'check.before-commit'
  | 'check.after-commit'
  | 'relay.after-start'
  | 'deliver.after-response'
  | 'deliver.after-record'
  | 'warn.after-keys'
  | 'warn.after-tokens'

// The only module state: a test arms the whole process, and an argument of every function would hide the code.
let armed: { name: string; left: number } | undefined

/** Arms one line of this process: `<name>[:nth]`. Production refuses to start with it. */
export const armFailpoint = (setting: string | undefined): void => {
  const [name = '', nth = '1'] = setting?.split(':') ?? []
  armed = setting === undefined ? undefined : { name, left: Number(nth) }
}

/** Ends the process with SIGKILL when this line is the armed one and has been passed often enough. */
export const failpoint = (name: FailpointName): void => {
  if (armed?.name !== name) return
  armed.left -= 1
  if (armed.left === 0) process.kill(process.pid, 'SIGKILL')
}
