/** An hour without an end is long for every kind of work. */
const LONG_MS = 3_600_000

interface View {
  name: string
  /** List filter of Temporal. */
  query(now: Date): string
}

const OPEN = 'ExecutionStatus = "Running"'

/** Lists of workflows that operators look at, as docs/operations/troubleshoot.md names them with their columns. */
const VIEWS: readonly View[] = [
  { name: 'Open, by owner', query: () => `${OPEN} AND KilnOwner IS NOT NULL` },
  { name: 'Failed, by code', query: () => 'KilnStatus = "failed"' },
  {
    name: 'Open longest',
    query: (now) => `${OPEN} AND StartTime < "${new Date(now.getTime() - LONG_MS).toISOString()}"`,
  },
  { name: 'Batches and their tasks', query: () => 'KilnBatch IS NOT NULL' },
  {
    name: 'Deliveries that fail',
    query: () => `${OPEN} AND WorkflowType IN ("deliverEvents", "redeliverEvent")`,
  },
  {
    name: 'Versions in checks',
    query: () =>
      `${OPEN} AND WorkflowType IN ("publishVersion", "receiveArchive", "extractHostNodes", "reextractVersion", "rescanVersion")`,
  },
]

/** Shows the views as addresses below that of the list of workflows. */
export const showViews = (list: string, now: Date): { name: string; url: string }[] =>
  VIEWS.map(({ name, query }) => ({ name, url: `${list}?query=${encodeURIComponent(query(now))}` }))
