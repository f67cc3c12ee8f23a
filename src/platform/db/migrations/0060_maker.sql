-- The API key that a batch, an operation or an upload was made with: it ends with the key.
alter table bulk add column api_key_id uuid;
alter table upload add column api_key_id uuid;
