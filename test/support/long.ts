/** True when the run has `--long`. */
export const isLong = process.env['LONG_PAGES'] !== undefined
