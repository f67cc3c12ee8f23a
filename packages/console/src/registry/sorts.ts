import { t } from '../words/translate.ts'
/** Orders of the search by the API's words; without one the best match is first. */
export const SORTS = {
  '': t('Relevance'),
  'github_stars;desc': t('Most stars'),
  'rating;desc': t('Best rated'),
  'downloads;desc': t('Most downloads'),
  downloads: t('Fewest downloads'),
  'created_at;desc': t('Newest'),
  created_at: t('Oldest'),
  name: t('Name, A to Z'),
  'name;desc': t('Name, Z to A'),
  search_ranking: t('Ranking, first to last'),
  'search_ranking;desc': t('Ranking, last to first'),
} as const

export type Sort = keyof typeof SORTS

/** The orders that an address may name. */
export const SORT_WORDS = Object.keys(SORTS).filter(Boolean) as Exclude<Sort, ''>[]
