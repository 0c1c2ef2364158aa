extension MapPage {
  /// The files of the folder Page, which the build makes part of the program.
  static let files: [(name: String, bytes: [UInt8])] = [
    ("api.js", PackageResources.api_js),
    ("captures.js", PackageResources.captures_js),
    ("conflict.js", PackageResources.conflict_js),
    ("details.js", PackageResources.details_js),
    ("dom.js", PackageResources.dom_js),
    ("edit.js", PackageResources.edit_js),
    ("form.js", PackageResources.form_js),
    ("layers.js", PackageResources.layers_js),
    ("live.js", PackageResources.live_js),
    ("map.css", PackageResources.map_css),
    ("mvt.js", PackageResources.mvt_js),
    ("page.js", PackageResources.page_js),
    ("pictures.js", PackageResources.pictures_js),
    ("plot.js", PackageResources.plot_js),
    ("shape.js", PackageResources.shape_js),
    ("start.js", PackageResources.start_js),
    ("symbols.js", PackageResources.symbols_js),
    ("table.js", PackageResources.table_js),
    ("tiles.js", PackageResources.tiles_js),
  ]
}
