const FAULTS: Record<string, string> = {
  engine_failed: 'the engine failed',
  internal_error: 'a fault of the service',
  lost: 'its worker went away',
  timeout: 'it took too long',
}

/** Why a try at rendering ended, by its code. */
export const aboutTry = (code: string): string => FAULTS[code] ?? code.replaceAll('_', ' ')
