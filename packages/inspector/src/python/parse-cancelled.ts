/** The caller's `isCancelled` became true while a file was parsed. */
export class ParseCancelled extends Error {
  constructor() {
    super('parsing was cancelled')
    this.name = 'ParseCancelled'
  }
}
