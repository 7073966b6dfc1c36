import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations } from '../../platform/db/database.ts'

export const marketMigrations: Migrations = {
  '20261128_94_market': migration(`
    create table market_providers (
      id uuid primary key,
      -- Null: the platform itself.
      bp_id uuid,
      name text not null,
      contact text not null,
      description text not null,
      status text not null default 'pending' check (status in ('pending', 'verified', 'disabled')),
      reason text,
      verified_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint market_providers_bound unique nulls not distinct (bp_id)
    );
    create unique index market_providers_name on market_providers (name);
    ${tellsChanges('market_providers', 'market.provider')}

    -- Of nodes of which somebody had the cards tested or put into the market.
    create table market_nodes (
      id uuid primary key references edges on delete cascade,
      bp_id uuid,
      name text not null,
      listed boolean not null default false,
      tested_at timestamptz,
      test_passed boolean not null default false,
      checks jsonb not null default '[]',
      constraint market_nodes_tested check (not listed or test_passed)
    );
    ${tellsChanges('market_nodes', 'market.node')}

    create table market_cards (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      uuid text not null,
      "index" integer not null,
      model text not null,
      memory_bytes bigint not null,
      driver text not null,
      cuda text,
      health text not null default 'healthy' check (health in ('healthy', 'sick')),
      trouble text check (trouble in ('xid', 'ecc', 'hot', 'lost', 'driver')),
      trouble_detail text not null default '',
      health_since timestamptz not null default now(),
      -- Faults that the driver told of before were seen to.
      cleared_at timestamptz,
      seen_at timestamptz not null default now(),
      constraint market_cards_place unique (edge_id, uuid),
      constraint market_cards_trouble check ((health = 'sick') = (trouble is not null))
    );
    create index market_cards_model on market_cards (model);

    -- Who has a card: one at most, until it is given back.
    create table market_holds (
      id uuid primary key,
      card_id uuid not null references market_cards on delete cascade,
      rental_id uuid not null,
      container_id uuid not null,
      held_at timestamptz not null default now(),
      released_at timestamptz
    );
    create unique index market_holds_card on market_holds (card_id) where released_at is null;
    create index market_holds_rental on market_holds (rental_id);
    create index market_holds_open on market_holds (container_id) where released_at is null;

    -- Each card with all that decides whether it can be rented.
    create view market_stock as
      select
        cards.id, cards.edge_id, edges.name as edge_name, edges.bp_id, cards.uuid, cards."index", cards.model, cards.memory_bytes, cards.driver, cards.cuda,
        cards.health, cards.trouble, cards.trouble_detail, cards.health_since, cards.seen_at,
        providers.id as provider_id, providers.name as provider_name, regions.id as region_id, regions.name as region_name,
        coalesce(nodes.listed, false) as listed,
        exists (select from market_holds where market_holds.card_id = cards.id and released_at is null) as held,
        edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as reachable,
        coalesce(nodes.listed, false) and coalesce(providers.status, '') = 'verified' and cards.health = 'healthy'
          and edges.status = 'online' and not edges.docker_away and edges.activation = 'active' as rentable
      from market_cards as cards
      join edges on edges.id = cards.edge_id
      left join market_nodes as nodes on nodes.id = edges.id
      left join market_providers as providers on providers.bp_id is not distinct from edges.bp_id
      left join sites on sites.id = edges.site_id
      left join regions on regions.id = sites.region_id;

    create table market_offers (
      id uuid primary key,
      -- Of the provider.
      bp_id uuid,
      provider_id uuid not null references market_providers,
      -- Null: whichever node of the provider has such cards.
      edge_id uuid,
      mode text not null check (mode in ('onDemand')),
      card_model text not null,
      most_cards integer not null check (most_cards between 1 and 16),
      -- Thousandths.
      milli_cpus_per_card integer not null check (milli_cpus_per_card > 0),
      memory_bytes_per_card bigint not null,
      disk_bytes_per_card bigint not null,
      -- Minor units for an hour.
      card_price numeric(38, 0) not null check (card_price >= 0),
      disk_price numeric(38, 0) not null check (disk_price >= 0),
      stopped_disk_price numeric(38, 0) not null check (stopped_disk_price >= 0),
      status text not null default 'proposed' check (status in ('proposed', 'listed', 'paused', 'rejected', 'ended')),
      reason text,
      decided_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index market_offers_listed on market_offers (card_model) where status = 'listed';
    create index market_offers_provider on market_offers (provider_id, created_at);
    ${tellsChanges('market_offers', 'market.offer')}
    create function tell_card() returns trigger language plpgsql as $$
    begin
      perform pg_notify('zhisuan', 'change market.card ' || coalesce((select bp_id::text from edges where id = new.edge_id), '-'));
      return null;
    end $$;
    create trigger market_cards_tell_health after update of health, trouble on market_cards for each row when (old.health <> new.health or old.trouble is distinct from new.trouble) execute function tell_card();
  `),
}
