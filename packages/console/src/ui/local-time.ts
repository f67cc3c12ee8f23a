/** Initial value of a field of a time, by the clock beside the screen. */
export const localTime = (instant: string): string =>
  new Date(instant).toLocaleString('sv').slice(0, 16).replace(' ', 'T')

/** Time of the service that such a field means; what is none is rejected there. */
export const instantOf = (local = ''): string => {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}
