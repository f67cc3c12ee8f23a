/** Orders of the search by the API's words; without one the best match is first. */
export const SORTS = {
  '': 'Relevance',
  'github_stars;desc': 'Most stars',
  'rating;desc': 'Best rated',
  'downloads;desc': 'Most downloads',
  downloads: 'Fewest downloads',
  'created_at;desc': 'Newest',
  created_at: 'Oldest',
  name: 'Name, A to Z',
  'name;desc': 'Name, Z to A',
  search_ranking: 'Ranking, first to last',
  'search_ranking;desc': 'Ranking, last to first',
} as const

export type Sort = keyof typeof SORTS

/** The orders that an address may name. */
export const SORT_WORDS = Object.keys(SORTS).filter(Boolean) as Exclude<Sort, ''>[]
