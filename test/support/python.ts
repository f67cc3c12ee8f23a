import { findPython, Skipped } from '../../tools/python.ts'

/** A Python that kiln-engine runs on; undefined where there is none. */
export const PYTHON = ((): string | undefined => {
  try {
    return findPython([3, 10])
  } catch (error) {
    if (error instanceof Skipped) return undefined
    throw error
  }
})()

/** Why a test that needs it is skipped; false where it is not. */
export const WITHOUT_PYTHON = PYTHON === undefined && 'Python 3.10 or later is not there'
