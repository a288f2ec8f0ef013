-- The HNSW index is built with memory that suits the number of vectors: a graph that does not fit into it is built many
-- times slower. A copy into a new store makes the index at its end, which takes a third of the time; all others make it
-- while it is empty, as before.

-- Make the index of every model that lacks it, and drop those of models that have gone. It runs with the rights of who
-- made the tables, and may be called by everybody who may add a model.
create or replace function jupyter_memory.index_vectors() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  model record;
  gone name;
  types name;
  megabytes bigint;
  definition text;
begin
  if not has_table_privilege(session_user, 'jupyter_memory.models', 'insert') then
    raise insufficient_privilege;
  end if;
  select n.nspname into types from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector';
  -- The most that such an index takes: more are compared one by one.
  for model in select id, dimensions from jupyter_memory.models where dimensions <= 4000 loop
    if to_regclass(format('jupyter_memory.vectors_nearest_%s', model.id)) is null then
      definition := format(
        'create index if not exists vectors_nearest_%1$s on jupyter_memory.vectors using hnsw'
        ' ((embedding::%2$I.halfvec(%3$s)) %2$I.halfvec_cosine_ops) where model = %1$s',
        model.id, types, model.dimensions
      );
      -- A graph that does not fit into this memory is built many times slower.
      select 64 + count(*) * (2 * model.dimensions + 1000) / 1000000 into megabytes
        from jupyter_memory.vectors v where v.model = model.id;
      perform set_config('maintenance_work_mem', least(megabytes, 2000) || 'MB', true);
      begin
        execute definition;
      -- Workers share memory in /dev/shm, of which a container may have little.
      exception when insufficient_resources then
        perform set_config('max_parallel_maintenance_workers', '0', true);
        execute definition;
      end;
    end if;
  end loop;
  for gone in
    select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'jupyter_memory.vectors'::regclass and c.relname like 'vectors\_nearest\_%'
      and not exists (select 1 from jupyter_memory.models m where c.relname = format('vectors_nearest_%s', m.id))
  loop
    execute format('drop index jupyter_memory.%I', gone);
  end loop;
end
$$;
