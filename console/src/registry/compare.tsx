import { PageTitle } from '../ui/page.tsx'
import { Empty } from '../ui/panels.tsx'

export const ComparePage = () => (
  <>
    <PageTitle>Compare versions</PageTitle>
    <Empty>This page is not built yet.</Empty>
  </>
)
