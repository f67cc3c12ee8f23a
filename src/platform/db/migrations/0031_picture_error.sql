-- Why what lies at the address cannot be shown, in a sentence for those who named it.

alter table picture add column error text;
