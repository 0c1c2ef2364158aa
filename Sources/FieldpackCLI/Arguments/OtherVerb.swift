import FieldpackCore

/// A command that other tools have, with what does its job here.
struct OtherVerb: Sendable {
  let name: String
  /// What the job is called here.
  let job: String
  /// A whole command line.
  let example: String

  private init(_ name: String, _ job: String, try example: String) {
    self.name = name
    self.job = job
    self.example = example
  }

  static func named(_ name: String) -> OtherVerb? { all.first { $0.name == name.lowercased() } }

  var error: FieldpackError {
    FieldpackError(
      .invalidArgument, "there is no command '\(name)': \(job). Try: \(example)")
  }

  private static let merging = "files are merged by an import into one layer"

  static let all = [
    OtherVerb(
      "rename", "layers are renamed by 'layer', and columns by 'layer rename-column'",
      try: "fieldpack layer rename field.gpkg:wells old_wells"),
    OtherVerb(
      "merge", merging,
      try: "fieldpack import north.gpkg south.gpkg --into field.gpkg --layer wells"),
    OtherVerb(
      "concat", merging,
      try: "fieldpack import north.gpkg south.gpkg --into field.gpkg --layer wells"),
    OtherVerb(
      "clip", "geometries are cut to a box on their way out",
      try: "fieldpack export field.gpkg zones --clip 13.87,51.93,13.90,51.96 --output cut.gpkg"),
    OtherVerb(
      "convert", "a file is written in another format by an export",
      try: "fieldpack export walk.gpx track_points --output points.geojson"),
    OtherVerb(
      "dissolve", "features are melted into one by a group",
      try: "fieldpack query field.gpkg zones --group-by name --aggregate \"union\""),
    OtherVerb(
      "stats", "info tells what the columns of a layer hold",
      try: "fieldpack info field.gpkg wells --stats"),
    OtherVerb(
      "buffer", "geometries become buffers of metres on their way out",
      try: "fieldpack export field.gpkg wells --buffer 100 --output around.gpkg"),
    OtherVerb(
      "split", "an export writes a file for each value of a column",
      try: "fieldpack export field.gpkg wells --split-by use --output by-use/"),
  ]
}
