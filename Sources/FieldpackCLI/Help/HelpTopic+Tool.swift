extension HelpTopic {
  static let styles = HelpTopic(
    name: "styles", abstract: "How layers are drawn on maps.",
    article: "KeysAndStyles",
    markdown: """
      Maps are drawn in the style of each store of a config: in `style`, an array of Mapbox layers, the `paint` of the
      last entry that has one.

      | Property | What it sets | Without it |
      | --- | --- | --- |
      | `line-color` | the colour of lines and of edges of areas | `#ff0000` |
      | `line-opacity` | their opacity, from 0 to 1 | 1 |
      | `line-width` | their width in pixels, from 0 to 1000 | 2 |
      | `fill-color` | the colour of areas | `#ff0000` |
      | `fill-opacity` | their opacity, from 0 to 1 | 0.5 |
      | `icon-color` | the colour of points | `#ff0000` |

      A colour is `#rgb`, `#rrggbb`, `rgb(r, g, b)`, `rgba(r, g, b, a)` or one of the seventeen names of CSS 2.1. A value
      that is none is reported, and the standard one holds.

      ```
      {"id": "zones", "store_type": "geojson", "version": "1", "uri": "zones.geojson",
       "style": [{"id": "zones", "paint": {"line-color": "#1f6f8b", "fill-opacity": 0.4}}]}
      ```
      """)

  static let keys = HelpTopic(
    name: "keys", abstract: "Key tuples, by which features are known again.",
    article: "KeysAndStyles",
    markdown: """
      A key tuple names one feature: its store, its layer and its id. Its text is the three in Base64, with points
      between them: `c3VydmV5.d2VsbHM=.MTI3` is the feature 127 of the layer `wells` in the store `survey`.

      - `fieldpack query --keys` and `fieldpack export --keys` write the key tuple of each feature: in GeoJSON as the
        member `id`, else as the first column.
      - `fieldpack get` takes a key tuple and gives the feature as GeoJSON, with the key tuple as its `id`.
      - `fieldpack update` finds by that `id` what it changes. `fieldpack delete` takes key tuples.
      - The store is the `id` in a config, or the file's name without its extension where a file is opened by itself. So
        a key tuple leads back as long as the config, or the file's name, stays the same.
      - The feature id is the integer in the layer's key column. A GeoJSON or CSV file that is opened itself has the ids
        that it holds, or else ids by content, which stay as long as the feature does not change.

      ```
      fieldpack query field.gpkg wells --where "depth > 80" --keys --format geojson > deep.geojson
      fieldpack update field.gpkg deep.geojson
      fieldpack get field.gpkg ZmllbGQ=.d2VsbHM=.MTM5
      ```
      """)

  static let exitStatus = HelpTopic(
    name: "exit-status", abstract: "What the exit status says.",
    article: "CommandLineJSON",
    markdown: """
      Exit status 0 is success, 2 completed with skipped features under `--skip-errors`, and 1 failed;
      errors with these codes have a status of their own:

      | Code | Status |
      | --- | --- |
      | `invalidArgument` | 64 |
      | `invalidData`, `corrupt` | 65 |
      | `notFound` | 66 |
      | `unavailable` | 69 |
      | `cannotCreate` | 73 |
      | `io`, `full` | 74 |
      | `busy` | 75 |
      | `permission`, `readOnly` | 77 |
      | `interrupted` | 130 |
      | `constraint`, `unsupported`, `configuration` | 1 |
      """)
}
