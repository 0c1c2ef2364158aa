@testable import FieldpackCheck
@testable import FieldpackGeoPackage

extension CheckDamage {
  static let upkeep: [CheckDamage] = [
    CheckDamage(
      name: "index without a row",
      sql: "DELETE FROM rtree_sites_geom WHERE id = 3",
      findings: [
        "error upkeep-index sites.geom#3: it is not in the R-tree +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index with another row",
      sql: "INSERT INTO rtree_sites_geom VALUES (77, 1, 1, 1, 1)",
      findings: [
        "error upkeep-index sites.geom#77: the R-tree has it, and the table does not +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index with stale boxes",
      sql: """
        UPDATE rtree_sites_geom SET minx = 50, maxx = 51 WHERE id = 4; UPDATE rtree_sites_geom SET \
        maxx = 9 WHERE id = 2
        """,
      findings: [
        "warning upkeep-index sites.geom#2: its box in the R-tree is larger than it +",
        "error upkeep-index sites.geom#4: its box in the R-tree does not hold it +",
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index of empty and NULL",
      sql: "INSERT INTO rtree_areas_geom VALUES (2, 0, 1, 0, 1), (3, 0, 1, 0, 1)",
      findings: [
        "error upkeep-index areas.geom#2: the R-tree has it, and it has no geometry +",
        "error upkeep-index areas.geom#3: the R-tree has it, and it has no geometry +",
      ],
      repairs: [
        "areas: R-tree of geom packed anew, 1 entry"
      ]),
    CheckDamage(
      name: "index without a root",
      sql: "DELETE FROM rtree_sites_geom_node",
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: node 1, the root, is "
          + "missing +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index with a zeroed root",
      sql: "UPDATE rtree_sites_geom_node SET data = zeroblob(length(data))",
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: it has 5 row ids, not 0 +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index cut short",
      sql: "UPDATE rtree_sites_geom_node SET data = substr(data, 1, 60)",
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: node 1 is cut short +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index of great depth",
      sql: "UPDATE rtree_sites_geom_node SET data = CAST(x'0063' || substr(data, 3) AS BLOB)",
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: it is 99 nodes deep +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index in a circle",
      sql: """
        UPDATE rtree_sites_geom_node SET data = \
        CAST(x'0001000100000000000000010000000042000000000000004200000000000000' || \
        zeroblob(length(data) - 32) AS BLOB)
        """,
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: node 1 is the child of "
          + "two nodes +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index without row ids",
      sql: """
        DELETE FROM rtree_sites_geom_rowid WHERE rowid = 2; INSERT INTO rtree_sites_geom_rowid \
        VALUES (99, 1)
        """,
      findings: [
        "error upkeep-index sites.geom#2: the R-tree's node of it is not as noted +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "index without a table behind it",
      sql: "DROP TABLE rtree_sites_geom_parent",
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: its tables cannot be "
          + "read: no such table: rtree_sites_geom_parent +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
    CheckDamage(
      name: "extent too small",
      sql: "UPDATE gpkg_contents SET max_x = 3 WHERE table_name = 'sites'",
      findings: [
        "warning upkeep-extent sites: the extent in gpkg_contents does not hold all geometries +"
      ],
      repairs: [
        "sites: the extent in gpkg_contents set"
      ]),
    CheckDamage(
      name: "extent too large",
      sql: "UPDATE gpkg_contents SET max_x = 30 WHERE table_name = 'sites'",
      findings: [
        "note upkeep-extent sites: the extent in gpkg_contents is larger than that of the "
          + "geometries +"
      ],
      repairs: [
        "sites: the extent in gpkg_contents set"
      ]),
    CheckDamage(
      name: "extent rounded",
      sql: "UPDATE gpkg_contents SET max_x = 4.99999 WHERE table_name = 'sites'",
      findings: [
        "note upkeep-extent sites: the extent in gpkg_contents is rounded, and does not hold "
          + "all geometries +"
      ],
      repairs: [
        "sites: the extent in gpkg_contents set"
      ]),
    CheckDamage(
      name: "extent of nothing",
      sql: """
        UPDATE gpkg_contents SET min_x = NULL, min_y = NULL, max_x = NULL, max_y = NULL WHERE \
        table_name = 'sites'; UPDATE gpkg_contents SET max_y = NULL WHERE table_name = 'areas'
        """,
      findings: [
        "note upkeep-extent sites: gpkg_contents has no extent +",
        "warning upkeep-extent areas: the extent in gpkg_contents is not complete +",
      ],
      repairs: [
        "areas: the extent in gpkg_contents set",
        "sites: the extent in gpkg_contents set",
      ]),
    CheckDamage(
      name: "count wrong",
      sql: "UPDATE gpkg_ogr_contents SET feature_count = 4",
      findings: [
        "warning upkeep-count sites: gpkg_ogr_contents counts 4 rows, and there are 5 +"
      ],
      repairs: [
        "sites: its count in gpkg_ogr_contents set"
      ]),
    CheckDamage(
      name: "count without triggers",
      sql: "DROP TRIGGER trigger_insert_feature_count_sites",
      findings: [
        "warning upkeep-count sites: no triggers keep its count in gpkg_ogr_contents true +"
      ],
      repairs: [
        "sites: its count in gpkg_ogr_contents set"
      ]),
    CheckDamage(
      name: "count without a row",
      sql: "DELETE FROM gpkg_ogr_contents",
      findings: [
        "note upkeep-count sites: gpkg_ogr_contents has no row for it +"
      ],
      repairs: [
        "sites: its count in gpkg_ogr_contents set"
      ]),
    CheckDamage(
      name: "no index at all",
      sql: """
        DROP TABLE rtree_sites_geom; DELETE FROM sqlite_master WHERE type = 'trigger' AND name \
        LIKE 'rtree_sites%'; DELETE FROM gpkg_extensions WHERE table_name = 'sites'
        """,
      findings: [
        "note upkeep-index sites.geom: it has no spatial index"
      ]),
    CheckDamage(
      name: "open ring",
      sql: """
        UPDATE areas SET geom = CAST(x'47500003E6100000' || substr(geom, 9, length(geom) - 24) || \
        x'000000000000F03F0000000000000000' AS BLOB) WHERE fid = 1
        """,
      findings: [
        "warning upkeep-shape areas.geom#1: 1 ring is not closed"
      ]),
    CheckDamage(
      name: "NaN among the positions",
      sql: """
        UPDATE sites SET geom = CAST(substr(geom, 1, 13) || x'000000000000F07F' || substr(geom, \
        22) AS BLOB) WHERE fid = 1
        """,
      findings: [
        "warning upkeep-shape sites.geom#1: 1 position is not finite",
        "error upkeep-index sites.geom#1: its box in the R-tree does not hold it +",
        "note upkeep-extent sites: the extent in gpkg_contents is larger than that of the "
          + "geometries +",
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries",
        "sites: the extent in gpkg_contents set",
      ],
      left: [
        "warning upkeep-shape sites.geom#1: 1 position is not finite"
      ]),
    CheckDamage(
      name: "index of nodes too large",
      sql: """
        UPDATE rtree_sites_geom_node SET data = CAST(data || zeroblob(2000) AS BLOB)
        """,
      findings: [
        "error upkeep-index sites.geom: the R-tree rtree_sites_geom: its nodes have 3228 "
          + "bytes, and 1228 at most are read +"
      ],
      repairs: [
        "sites: R-tree of geom packed anew, 5 entries"
      ]),
  ]
}
