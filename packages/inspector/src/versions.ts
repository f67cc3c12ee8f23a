/** Whole numbers, raised with every change that can alter a result of the reading of host nodes. */
export const EXTRACTOR_VERSION = 3
