-- What Temporal calls a worker: its lists name one for minutes after its end, and this row says that it has ended.

alter table worker add column identity text;
