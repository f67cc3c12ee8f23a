-- Lists and their counts read publishers by status: the active ones, and for each count of nodes the few others.
-- earlier: 2c47679cc68c8359995ec3de240d6074aab4d145730ffe1feb98b97bac2fda16

-- step alone
create index concurrently publisher_active on publisher (id) where status = 'PublisherStatusActive';

-- step alone
create index concurrently publisher_banned on publisher (id) where status <> 'PublisherStatusActive';
