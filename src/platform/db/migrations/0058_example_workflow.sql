-- Example workflows that a reading found in the archive, with the host nodes that they use; null for readings that did not look.
alter table extraction add column examples jsonb;
