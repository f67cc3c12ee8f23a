import { PageTitle } from '../ui/page.tsx'
import { Empty } from '../ui/panels.tsx'

export const TryPage = () => (
  <>
    <PageTitle>Try</PageTitle>
    <Empty>This page is not built yet.</Empty>
  </>
)
