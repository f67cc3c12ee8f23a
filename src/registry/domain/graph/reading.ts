/** Outcome of a reading of a version's host nodes that did not succeed. */
export interface Reading {
  version: string
  status: 'pending' | 'failed' | 'reported'
  /** Meaning of the reason of a failure. */
  advice: string | null
}

const SENTENCES = {
  pending: 'have not been read yet: ask again in some minutes.',
  failed: 'could not be read, so nobody can say which it has.',
  reported: 'are known from somebody alone who is no member of its publisher.',
}

/** Says why the host nodes of a version are not known. */
export const describeReading = ({ version, status, advice }: Reading): string =>
  [`The host nodes of version ${version} ${SENTENCES[status]}`, advice ?? ''].join(' ').trimEnd()
