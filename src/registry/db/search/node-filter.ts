import type { ListedNodeStatus } from '../../domain/node-query.ts'
import type { Fragment, Queryable } from '../../../platform/db/client.ts'

/** Conditions that narrow a list of nodes; all that are given must hold. */
export interface NodeFilter {
  /** Blanks at its ends do not count; blanks alone are no term. */
  term?: string | undefined
  /** A part of the repository, as given or normalised. */
  repository?: string | undefined
  /** A part of the name or display name of a host node of the latest version. */
  hostNode?: string | undefined
  /** The node lists at least one of these by any of its usual names, none at all, or says that it runs everywhere. */
  os?: readonly string[] | undefined
  accelerators?: readonly string[] | undefined
  tags?: readonly string[] | undefined
  /** SPDX ids; the archive of the latest version has one of these. */
  licenses?: readonly string[] | undefined
  /** Texts about the host's versions that the node does not say. */
  excludedHostVersions?: readonly string[] | undefined
  ids?: readonly string[] | undefined
  /** Status of the node itself, whatever its publisher's; for platform admins. */
  status?: ListedNodeStatus | undefined
  /** Created or changed at this time or later. */
  changedSince?: Date | undefined
  /** For platform admins: also banned nodes and nodes of banned publishers. */
  includeBanned?: boolean | undefined
  /** Also nodes that are not listed any more; little is shown of each. */
  includeRemoved?: boolean | undefined
}

/** True when a filter lets every listed node through. */
export const isUnfiltered = (filter: NodeFilter): boolean =>
  Object.values(filter).every((value) => value === undefined || value === false)

/** True when nothing but the names of host nodes narrows it: the nodes themselves need not be read. */
export const isByHostNode = (filter: NodeFilter): filter is NodeFilter & { hostNode: string } =>
  filter.hostNode !== undefined && isUnfiltered({ ...filter, hostNode: undefined })

/** Stands between the names in `node_host_names`. */
const SEPARATOR = '\u0001'

/** The condition on `names`. A text too short for a trigram would have the index read from end to end. */
export const hasHostNode = (sql: Queryable, hostNode: string) => {
  if (hostNode.includes(SEPARATOR)) return sql`false`
  return [...hostNode].length < SHORTEST_PART
    ? sql`names || '' like ${partPattern(sql, hostNode)}`
    : sql`names like ${partPattern(sql, hostNode)}`
}

/**
 * The condition on `node n`. As a set it is made once for all nodes, and not taken for a join: the planner would expect
 * few nodes. Else each node is looked up.
 */
const hostNodeCondition = (sql: Queryable, hostNode: string, asSet: boolean) =>
  asSet
    ? sql`(n.id in (select node_id from node_host_names where ${hasHostNode(sql, hostNode)})) is true`
    : sql`exists (
        select from (select names from node_host_names where node_id = n.id offset 0) h
        where ${hasHostNode(sql, hostNode)})`

/** Keys of platforms (migration 0027), with the key of nodes that run everywhere. */
const runsOn = (sql: Queryable, platforms: readonly string[]) =>
  sql`(select platform_keys(${[...platforms]}::text[]) || '{any}'::text[])`

/** The condition that a list of systems or accelerators names one of these, or none. */
export const platformCondition = (sql: Queryable, given: Fragment, platforms: readonly string[]) =>
  sql`platform_keys(${given}) && ${runsOn(sql, platforms)}`

/** Written out, because an index holds the few that are banned. */
const STATUS: Record<ListedNodeStatus, (sql: Queryable) => Fragment> = {
  NodeStatusActive: (sql) => sql`and n.status = 'NodeStatusActive'`,
  NodeStatusBanned: (sql) => sql`and n.status = 'NodeStatusBanned'`,
}

/** The conditions of a filter on `node n`, its term and `includeBanned` aside. */
export const nodeConditions = (
  sql: Queryable,
  filter: NodeFilter,
  { asSet }: { asSet: boolean } = { asSet: true },
) => {
  const { repository, hostNode, os, accelerators, tags, ids, status, changedSince } = filter
  const { excludedHostVersions: excluded, licenses } = filter
  return sql`
    ${repository === undefined ? sql`` : sql`and ${repositoryCondition(sql, repository)}`}
    ${hostNode === undefined ? sql`` : sql`and ${hostNodeCondition(sql, hostNode, asSet)}`}
    ${os ? sql`and ${platformCondition(sql, sql`n.supported_os`, os)}` : sql``}
    ${
      accelerators
        ? sql`and ${platformCondition(sql, sql`n.supported_accelerators`, accelerators)}`
        : sql``
    }
    ${tags ? sql`and lower_all(n.tags) && (select lower_all(${[...tags]}::text[]))` : sql``}
    ${licenses ? sql`and lower(n.license_id) = any((select lower_all(${[...licenses]}::text[]))::text[])` : sql``}
    ${excluded ? sql`and (n.supported_host_version <> all(${[...excluded]}::text[])) is not false` : sql``}
    ${status ? STATUS[status](sql) : sql``}
    ${ids ? sql`and n.id_lower = any((select lower_all(${[...ids]}::text[]))::text[])` : sql``}
    ${changedSince ? sql`and ${isChangedSince(sql, changedSince, asSet)}` : sql``}
  `
}

/**
 * The condition that `node n` has changed. It changes with its publisher, too, whose change has its time there (trigger
 * `publisher_changed`, 0032). As a set both lists come by their indexes: with `or` the planner reads all nodes.
 */
const isChangedSince = (sql: Queryable, since: Date, asSet: boolean) =>
  asSet
    ? sql`n.id = any(array(
        select id from node where updated_at >= ${since}
        union
        select c.id from publisher p
        cross join lateral (select id from node where publisher_id = p.id offset 0) c
        where p.changed_at >= ${since}
      ))`
    : sql`(
        n.updated_at >= ${since}
        or n.publisher_id = any(array(select id from publisher where changed_at >= ${since}))
      )`

/** A URL with scheme, host and path: a repository that holds it as given holds it normalised, too. */
export const WHOLE_REPOSITORY = /^[a-z0-9+.-]+:\/\/[^/@]+\/[^/]/i

const repositoryCondition = (sql: Queryable, repository: string) =>
  WHOLE_REPOSITORY.test(repository)
    ? isNormalPart(sql, repository)
    : sql`(
        lower(n.repository) like ${partPattern(sql, repository)} or ${isNormalPart(sql, repository)}
      )`

/** Nothing matches a term whose normalised form is empty, such as `https://`. */
const isNormalPart = (sql: Queryable, repository: string) => sql`
  n.repository_key like (
    select '%' || regexp_replace(key, '([\\\\%_])', '\\\\\\1', 'g') || '%'
    from (select nullif(repository_key(${repository}::text), '') as key) normal
  )
`

/** Classes of relevance: 6 the term is id or name, 5 begins one, 4 is in one, 3 to 1 are found by words. */
export const CLASSES = [6, 5, 4, 3, 2, 1] as const
export type RelevanceClass = (typeof CLASSES)[number]

/** The term as it is looked for; undefined when it says nothing. */
export const readTerm = ({ term }: NodeFilter): string | undefined => term?.trim() || undefined

/** Shorter parts have no trigram to find them by, and would match almost everything. */
const SHORTEST_PART = 3

const isEqual = (sql: Queryable, term: string) =>
  sql`(n.id_lower = ${lowerText(sql, term)} or n.name_lower = ${lowerText(sql, term)})`

const isStart = (sql: Queryable, term: string) =>
  sql`(n.id_lower like ${startPattern(sql, term)} or n.name_lower like ${startPattern(sql, term)})`

/** A term too short for a part matches only what begins with it. */
export const isPart = (sql: Queryable, term: string) =>
  [...term].length < SHORTEST_PART
    ? isStart(sql, term)
    : sql`(n.id_lower like ${partPattern(sql, term)} or n.name_lower like ${partPattern(sql, term)})`

/** Words of id and name (a), of tags, author and publisher too (b), of the description too (c), of host nodes too (d). */
export type WordSort = 'a' | 'b' | 'c' | 'd'

/** Its index is exact: a row that it gives is not looked at. */
export const hasWords = (sql: Queryable, term: string, sort: WordSort) =>
  sql`n.words @@ (select search_query(${term}, ${sort}))`

/** The condition that a node is of one class. What is a start is a part, and has the words in its id or name. */
export const isOfClass = (sql: Queryable, term: string, relevance: RelevanceClass) => {
  switch (relevance) {
    case 6:
      return isEqual(sql, term)
    case 5:
      return sql`${isStart(sql, term)} and not ${isEqual(sql, term)}`
    case 4:
      return sql`(${hasWords(sql, term, 'a')} or ${isPart(sql, term)})
        and not ${isStart(sql, term)}`
    case 3:
      return isWider(sql, term, ['b', 'a'])
    case 2:
      return isWider(sql, term, ['c', 'b'])
    case 1:
      return isWider(sql, term, ['d', 'c'])
  }
}

/** The condition that a node is found in a sort of words, and by nothing narrower. */
const isWider = (sql: Queryable, term: string, [sort, narrower]: [WordSort, WordSort]) =>
  sql`${hasWords(sql, term, sort)} and not ${hasWords(sql, term, narrower)}
    and not ${isPart(sql, term)}`

/** The condition that a node is found at all. */
export const isFound = (sql: Queryable, term: string) =>
  sql`(${hasWords(sql, term, 'd')} or ${isPart(sql, term)})`

/** The class of a node that is a part. */
export const partClassOf = (sql: Queryable, term: string) => sql`
  case when ${isEqual(sql, term)} then 6 when ${isStart(sql, term)} then 5 else 4 end
`

/** The narrowest sort in which a node has all the words; null for none. Words of `a` are in all others, too. */
export const sortOf = (sql: Queryable, term: string) => sql`
  case
    when ${hasWords(sql, term, 'a')} then 'a'
    when ${hasWords(sql, term, 'b')} then 'b'
    when ${hasWords(sql, term, 'c')} then 'c'
    when ${hasWords(sql, term, 'd')} then 'd'
  end
`

/** The class of a node that is found. Each line asks only about nodes that no line above has matched. */
export const classOf = (sql: Queryable, term: string) => sql`
  case
    when ${isPart(sql, term)} then ${partClassOf(sql, term)}
    when ${hasWords(sql, term, 'a')} then 4
    when ${hasWords(sql, term, 'b')} then 3
    when ${hasWords(sql, term, 'c')} then 2
    else 1
  end
`

/*
 * Patterns of `like` for a text in which `%`, `_` and `\` are plain characters, in any case. They are subqueries, so that
 * a pattern is computed once and not for each row.
 */

const lowerText = (sql: Queryable, text: string) => sql`(select lower(${text}::text))`

export const startPattern = (sql: Queryable, text: string) =>
  sql`(select lower(${escape(text)}::text) || '%')`

export const partPattern = (sql: Queryable, text: string) =>
  sql`(select '%' || lower(${escape(text)}::text) || '%')`

const escape = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`)
