import { useInfiniteQuery } from '@tanstack/react-query'

import { NUMBERED, read } from '../api/client.ts'
import { Decisions, ReviewText } from '../registry/reviews.tsx'
import styles from '../registry/reviews.module.css'
import { Link, nodePage } from '../ui/link.tsx'
import { Empty, Row, Show } from '../ui/panels.tsx'
import { NextPage, PreviousPage } from '../ui/rows.tsx'
import { t } from '../words/translate.ts'

/** Reviews of packs that users have reported, those with the most reports first; either decision closes the reports. */
export const ReportedReviews = () => {
  const found = useInfiniteQuery({
    queryKey: ['admin', 'reviews', 'pages'],
    queryFn: ({ pageParam: page, signal }) =>
      read('/admin/reviews', { query: { page, limit: 25 } }, signal),
    ...NUMBERED,
    select: ({ pages }) => pages.flatMap(({ reviews }) => reviews),
  })
  return (
    <>
      <PreviousPage query={found} />
      <Show query={found}>
        {(reviews) =>
          reviews.length === 0 ? (
            <Empty>{t('No reported reviews')}</Empty>
          ) : (
            <ul aria-label={t('Reported reviews')} className={styles.list}>
              {reviews.map((review) => (
                <li key={review.id} className="stack">
                  <Link {...nodePage(review.node_id)} search={{ tab: 'reviews' }}>
                    {review.node_id}
                  </Link>
                  <ReviewText review={review} />
                  <Row>
                    <Decisions review={review} />
                  </Row>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <NextPage query={found} />
    </>
  )
}
