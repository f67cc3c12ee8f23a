/** Raised with every change that can alter a result of the reading of host nodes and examples. */
export const EXTRACTOR_VERSION = 14

/** Raised with every change that can alter a result of the scan. */
export const SCANNER_VERSION = 6

export const SCANNER = 'kiln'
