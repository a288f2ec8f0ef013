-- Who may do what, decided by the database: `team grant` writes a row and gives the role its privileges on the tables;
-- the policies below let it see and change only the rows of its spaces. Who made the tables is bound by none of them.

create table jupyter_memory.grants (
  role name not null,
  space text collate "C",                    -- null: every space
  level text not null check (level in ('reader', 'writer') or level = 'owner' and space is null),
  -- Of the role: one that is dropped and made anew has other rights. Null with Citus, whose machines number roles apart.
  role_oid oid,
  unique nulls not distinct (role, space)
);
alter table jupyter_memory.grants enable row level security;
-- A role that reads the policies below reads this table, and must not learn of the spaces of others.
create policy own on jupyter_memory.grants for select using (
  exists (select 1 from pg_catalog.pg_roles r where r.rolname = role and r.oid = coalesce(role_oid, r.oid)
    and pg_catalog.pg_has_role(r.oid, 'usage'))
);

-- The lists of spaces are read once for each statement. They stand in the policies and not in a function: a policy is
-- parsed when it is made, so no search path of a client can put another operator into it.
do $$
declare
  named text;
  reading constant text := 'space = any (array(select g.space from jupyter_memory.grants g))'
    ' or (select bool_or(g.space is null) from jupyter_memory.grants g)';
  writing constant text := 'space = any (array(select g.space from jupyter_memory.grants g where g.level <> ''reader''))'
    ' or (select bool_or(g.space is null) from jupyter_memory.grants g where g.level <> ''reader'')';
begin
  foreach named in array array[
    'memories', 'texts', 'tags', 'chunks', 'postings', 'frequencies', 'totals', 'vectors', 'trust', 'chunk_tokens',
    'definitions', 'thumbnails', 'files', 'folders', 'runs', 'done'
  ] loop
    execute format('alter table jupyter_memory.%I enable row level security', named);
    execute format('create policy readers on jupyter_memory.%I for select using (%s)', named, reading);
    execute format('create policy add on jupyter_memory.%I for insert with check (%s)', named, writing);
    execute format('create policy change on jupyter_memory.%I for update using (%s)', named, writing);
    execute format('create policy remove on jupyter_memory.%I for delete using (%s)', named, writing);
  end loop;
  -- What a person asked and said is their own, whoever owns the memories.
  foreach named in array array['searches', 'feedback', 'query_vectors', 'query_keys'] loop
    execute format('alter table jupyter_memory.%I enable row level security', named);
    execute format('create policy own on jupyter_memory.%I using (who = current_user)', named);
  end loop;
end
$$;

-- Of the functions below, each asks who the client is: they run with the rights of who made the tables.
create function jupyter_memory.owns() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(session_user, (select relowner from pg_class where oid = 'jupyter_memory.grants'::regclass), 'usage')
    or exists (
      select 1 from jupyter_memory.grants g join pg_roles r on r.rolname = g.role and r.oid = coalesce(g.role_oid, r.oid)
      where g.level = 'owner' and pg_has_role(session_user, r.oid, 'usage')
    )
$$;

create function jupyter_memory.may_write(wanted text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select jupyter_memory.owns() or exists (
    select 1 from jupyter_memory.grants g join pg_roles r on r.rolname = g.role and r.oid = coalesce(g.role_oid, r.oid)
    where g.level = 'writer' and (g.space is null or g.space = wanted) and pg_has_role(session_user, r.oid, 'usage')
  )
$$;

-- What others asked goes with the memories that it showed, though nobody sees it: a writer says which memories of which
-- spaces are about to be forgotten; those that are not theirs to forget are passed over.
create function jupyter_memory.forget_asked(in_spaces text[], ids text[]) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  spaces text[];
  gone text[];
  alone text[];
  forgotten boolean;
begin
  select array_agg(named) into spaces from unnest(in_spaces) as named where jupyter_memory.may_write(named);
  select array_agg(m.id) into gone from jupyter_memory.memories m where m.space = any (spaces) and m.id = any (ids);
  -- An id that a memory in another space has, too, is not theirs alone to take out of what was asked of all spaces.
  select array_agg(named.id) into alone from unnest(gone) as named (id)
  where not exists (select 1 from jupyter_memory.memories m where m.id = named.id and m.space <> all (spaces));
  delete from jupyter_memory.searches s
  where s.hits::jsonb ?| alone or s.space <> '' and s.space = any (spaces) and s.hits::jsonb ?| gone;
  forgotten := found;
  delete from jupyter_memory.feedback f
  where f.memory = any (alone) or f.space <> '' and f.space = any (spaces) and f.memory = any (gone);
  forgotten := forgotten or found;
  -- A question about forgotten memories reveals something of them, too.
  delete from jupyter_memory.query_vectors q where gone is not null and (q.space = '' or q.space = any (spaces));
  return forgotten;
end
$$;

-- Give a role the privileges on tables that its rights need, and no more; the policies choose the rows.
create function jupyter_memory.set_privileges(wanted name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  level text;
  named text;
  columns text;
begin
  execute format('revoke all on all tables in schema jupyter_memory from %I', wanted);
  execute format('revoke all on all sequences in schema jupyter_memory from %I', wanted);
  execute format('revoke all on all functions in schema jupyter_memory from %I', wanted);
  execute format('revoke all on schema jupyter_memory from %I', wanted);
  -- In the order of the alphabet, an owner comes before a reader and a reader before a writer.
  select case when bool_or(g.level = 'owner') then 'owner' else max(g.level) end into level
  from jupyter_memory.grants g join pg_roles r on r.rolname = g.role and r.oid = coalesce(g.role_oid, r.oid)
  where g.role = wanted;
  if level is null then
    return;
  end if;
  execute format('grant usage on schema jupyter_memory to %I', wanted);
  execute format('grant select on all tables in schema jupyter_memory to %I', wanted);
  execute format('grant execute on function jupyter_memory.rights to %I', wanted);
  if level = 'reader' then
    return;
  end if;
  execute format('grant insert, update, delete on all tables in schema jupyter_memory to %I', wanted);
  execute format('revoke insert, update, delete on jupyter_memory.grants, jupyter_memory.schema_version from %I', wanted);
  execute format('grant usage on sequence jupyter_memory.numbers, jupyter_memory.models_id_seq to %I', wanted);
  execute format('grant execute on function jupyter_memory.forget_asked to %I', wanted);
  if level = 'owner' then
    execute format('grant execute on function jupyter_memory.give_right, jupyter_memory.take_rights to %I', wanted);
  else
    -- The model that all search with is changed by an owner; the first writer may bring it.
    execute format('revoke update, delete on jupyter_memory.models from %I', wanted);
    -- The server numbers memories and chunks, by which it is said whose they are and which came first.
    foreach named in array array['memories', 'chunks'] loop
      select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
      where attrelid = format('jupyter_memory.%I', named)::regclass and attnum > 0 and not attisdropped
        and attidentity = '' and attgenerated = '';
      execute format('revoke insert, update on jupyter_memory.%I from %I', named, wanted);
      execute format('grant insert (%s), update (%1$s) on jupyter_memory.%I to %I', columns, named, wanted);
    end loop;
  end if;
end
$$;

create function jupyter_memory.give_right(wanted name, right_given text, in_space text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  numbered oid;
begin
  if not jupyter_memory.owns() then
    raise insufficient_privilege;
  end if;
  select oid into strict numbered from pg_roles where rolname = wanted;
  -- What an earlier role of this name had is not given to this one.
  delete from jupyter_memory.grants g where g.role = wanted and g.role_oid <> numbered;
  if exists (select 1 from pg_extension where extname = 'citus') then
    numbered := null;
  end if;
  insert into jupyter_memory.grants (role, space, level, role_oid) values (wanted, in_space, right_given, numbered)
  on conflict (role, space) do update set level = excluded.level, role_oid = excluded.role_oid;
  perform jupyter_memory.set_privileges(wanted);
end
$$;

-- Without a space, all rights of the role; a role that is gone from the server has rows, but no privileges.
create function jupyter_memory.take_rights(wanted name, in_space text) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  taken bigint;
begin
  if not jupyter_memory.owns() then
    raise insufficient_privilege;
  end if;
  delete from jupyter_memory.grants g where g.role = wanted and (in_space is null or g.space = in_space);
  get diagnostics taken = row_count;
  if exists (select 1 from pg_roles where rolname = wanted) then
    perform jupyter_memory.set_privileges(wanted);
  end if;
  return taken;
end
$$;

-- All rights for an owner, for others their own; who made the tables comes first.
create function jupyter_memory.rights() returns table (role name, level text, space text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select pg_get_userbyid(relowner), 'owner', null from pg_class where oid = 'jupyter_memory.grants'::regclass
  union all
  (
    select g.role, g.level, g.space from jupyter_memory.grants g
    where jupyter_memory.owns()
      or exists (select 1 from pg_roles r where r.rolname = g.role and r.oid = coalesce(g.role_oid, r.oid)
        and pg_has_role(session_user, r.oid, 'usage'))
    order by g.role, g.space nulls first
  )
$$;

revoke execute on all functions in schema jupyter_memory from public;

-- An HNSW index for the vectors of each model, made with the model, while it is empty: a writer may not make one, and
-- nobody waits for it to be built. It holds halves of the values; the cosines that count come from the whole ones. A
-- copy into a new store makes the index at its end, which takes a third of the time.
--
-- Make the index of every model that lacks it, and drop those of models that have gone. It runs with the rights of who
-- made the tables, and may be called by everybody who may add a model.
create function jupyter_memory.index_vectors() returns void
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
