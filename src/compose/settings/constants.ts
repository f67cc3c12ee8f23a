import { Type, type Static } from 'typebox'

const count = (value: number, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, default: value })

/**
 * Numbers that an operator has no reason to change. Outside production OVERRIDE_<name> in the environment of a process
 * replaces one, for tests that cannot wait and for the embedded stack.
 */
export const Constants = Type.Object({
  /**
   * Longest statement of a request; all its statements together may take a fifth longer. A caller repeats what takes longer,
   * and a pool of ten connections serves nobody while it works for callers who have left.
   */
  DATABASE_TIMEOUT_MS: count(1500, 100, 60_000),
  /**
   * Streams and waiting reads that one api holds open at once; one address and one account have a tenth of them. Each takes
   * 31 kB and a connection.
   */
  STREAMS_MAX: count(2000, 10, 50_000),
  /** Pause until the way to Temporal is read again: a certificate is replaced days before it ends. */
  TEMPORAL_RENEWAL_MS: count(60_000, 100),
  /** Users of whom `POST /development/tokens` makes tokens: two who see what the other may not, and a platform admin. */
  DEVELOPMENT_USERS: Type.String({ default: 'alice,bob,operator' }),

  /** Pictures are decoded whole: so many pixels take up to 2 GB of a media worker. */
  IMAGE_MAX_PIXELS: count(100_000_000, 1),
  /** The largest image, 50 MB, within this time needs 13 Mbit/s. */
  IMAGE_URL_TIMEOUT_SECONDS: count(30, 1, 3600),
  /** A longer chain is mostly a circle. */
  IMAGE_URL_REDIRECTS: count(5, 0, 20),
  /** To fetch a stranger's icon, and again to make it small. */
  PICTURE_MS: count(4000, 100, 600_000),
  /** A page waits so long for such a fetch, which goes on: over HTTP/1.1 six slow icons hold up all else that it asks for. */
  PICTURE_WAIT_MS: count(50, 10, 600_000),
  /** Least life of a link to a result: who polls once a day still finds one that works. */
  RESULT_LINK_SECONDS: count(86_400, 3600),
  /** From the creation of an off-peak task until it fails: the two days that callers are promised. */
  OFF_PEAK_DEADLINE_SECONDS: count(172_800, 1, 2_592_000),
  /**
   * Silence after which a render counts as lost. A render beats each second, and beside two endless loops a core none was
   * ever late by five.
   */
  HEARTBEAT_SECONDS: count(5, 1, 600),
  /** Age of the oldest task that waits to begin from which on endpoints of the platform are notified: longer than a deploy. */
  NOTICE_QUEUE_SECONDS: count(900, 1),
  /** Used part of the file system of STORAGE_PATH from which on they are: time is left to add space. */
  NOTICE_STORE_PERCENT: count(90, 1, 100),
  /** Pause between two checks of what those who run the service are notified of. */
  NOTICE_INTERVAL_MS: count(30_000, 10),
  /** Pause until pauses, rules of owners and templates are read again, where no notification or end of a pause comes before. */
  RULES_INTERVAL_MS: count(10_000, 10),
  /** Prebuilt workflows of a checkout; absent: those that `npm run build` has put beside the worker. */
  WORKFLOW_BUNDLE: Type.Optional(Type.String({ minLength: 1 })),

  /** Time until one task tries whether an engine behind an open breaker works again: it costs one attempt. */
  BREAKER_SECONDS: count(10, 1, 3600),
  /** Renders 8 frames of 96×64 whatever is asked for, for tests. */
  VIDEO_TINY: Type.Boolean({ default: false }),
  /** Kills the process at a named line, `<name>[:nth]`, for tests. */
  FAILPOINT: Type.Optional(Type.String({ minLength: 1 })),
  /** Requests of one core worker to one upstream at once, downloads included. */
  VENDOR_CONCURRENCY: count(10, 1, 1000),
  /** Tasks that one core worker has at upstreams at once: they only submit and poll, so that a worker has time for them. */
  VENDOR_SLOTS: count(50, 1, 1000),

  /**
   * Pause of a batch or operation after each item, as a factor of the time that the item took: with 1 it takes half of what
   * it could, and less where PostgreSQL or Temporal has much to do.
   */
  BULK_PAUSE_FACTOR: Type.Number({ minimum: 0, maximum: 100, default: 1 }),

  /** Publishers that one user may create, because a name that is taken stays taken. */
  MAX_PUBLISHERS_PER_USER: count(20, 1, 1_000_000),
  /** Largest page × page size of searches and of the list of versions: behind it PostgreSQL reads what nobody looks at. */
  SEARCH_MAX_DEPTH: count(10_000, 100, 10_000_000),
  /** From a publication until the upload of its archive must have begun; a slow upload may go on after that. */
  UPLOAD_EXPIRY_SECONDS: count(3600, 1, 2_592_000),

  /** Endpoints of one owner of tasks, or one publisher: every event is sent to all that want it. */
  MAX_ENDPOINTS: count(10, 1, 1000),
  /**
   * Redeliveries of one event that anonymous callers may ask for: anyone who knows the id may, and the subscriber pays.
   */
  ANONYMOUS_REDELIVERIES_PER_EVENT: count(5),
  /** The same of one host within an hour. */
  ANONYMOUS_REDELIVERIES_PER_HOST: count(100, 1),
  /** Factor of the times in the schedule of notifications. */
  WEBHOOK_TIME_FACTOR: Type.Number({ exclusiveMinimum: 0, maximum: 1, default: 1 }),

  /** Pause between two passes of the outbox relay, which starts what no api has started by itself; longer in quiet times. */
  RELAY_INTERVAL_MS: count(1000, 10),
  /** Pause between two passes of reconcile: each reads the open tasks. */
  RECONCILE_INTERVAL_SECONDS: count(60, 1),
  /** Stillness after which reconcile asks Temporal about a task: longer than a worker needs for its longest step. */
  RECONCILE_AFTER_SECONDS: count(600, 1),
})
export type Constants = Static<typeof Constants>

/** Prefix of the variables that replace constants. */
export const OVERRIDE = 'OVERRIDE_'

/** The schema of the variables that replace constants. */
export const Overrides = Type.Object(
  Object.fromEntries(
    Object.entries(Constants.properties).map(([name, rule]) => [OVERRIDE + name, rule]),
  ),
)
