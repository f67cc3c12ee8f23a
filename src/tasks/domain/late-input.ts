import { pointerOf } from './listed-file.ts'

/**
 * Warns of the inputs of a task that starts later which are addresses: what they lead to is fetched then.
 * @param body of its creation
 */
export const listLateInputs = (
  body: unknown,
  inputs: readonly { field: string; url: string | null; storageKey: string | null }[],
): string[] =>
  (body as { kiln_start_after?: unknown }).kiln_start_after === undefined
    ? []
    : inputs
        .filter(({ url, storageKey }) => url !== null && storageKey === null)
        .map(
          ({ field }) =>
            `${pointerOf(field)} is fetched when the task starts: its address must lead to it then`,
        )
