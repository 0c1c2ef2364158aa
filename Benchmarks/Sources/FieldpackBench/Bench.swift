import Fieldpack
import Foundation

/// In-process figures: `FieldpackBench WORK ARGUMENTS…` prints one JSON line with the seconds of the
/// work and what it found, so that a caller can compare both with a peer's.
@main
struct Bench {
  private static let usage = """
    usage: FieldpackBench make FOLDER SCALE SET...    write benchmark data
           FieldpackBench scan|lent FILE LAYER        read all rows, as batches or lent
           FieldpackBench boxes|ids FILE LAYER BOXES  one query a box; all columns or ids only
           FieldpackBench counts FILE LAYER BOXES     count the rows in each box
           FieldpackBench relation FILE LAYER WKT     rows that intersect the geometry in a file
           FieldpackBench sql FILE LAYER WKT          the same by ST_Intersects in SQL
           FieldpackBench where FILE LAYER CQL2       rows that match a condition
           FieldpackBench project SRS COUNT           transform positions in arrays, on one core
           FieldpackBench fence batch|stream FIXES CIRCLES AREAS   enters and exits
           FieldpackBench fence stored FIXES CIRCLES AREAS OUT     the same, kept in a GeoPackage
    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let name = arguments.first, arguments.count >= 3 else { return fail() }
    let rest = Array(arguments.dropFirst())
    if name == "make" {
      let data = BenchmarkData(folder: rest[0], scale: Double(rest[1]) ?? 1)
      return try data.make(Array(rest.dropFirst(2)))
    }
    if name == "project" {
      return report(try Projecting.run(to: rest[0], count: Int(rest[1]) ?? 0))
    }
    if name == "fence" {
      if rest.count == 5, rest[0] == "stored" {
        return report(try await Fencing.store(Array(rest[1...3]), in: rest[4]))
      }
      guard rest.count == 4 else { return fail() }
      return report(try await Fencing.run(rest[0], Array(rest.dropFirst())))
    }
    guard let work = Reading.Work(rawValue: name) else { return fail() }
    report(try await Reading(path: rest[0], layer: LayerID(rest[1])).run(work, rest.dropFirst(2)))
  }

  private static func report(_ figures: Figures) {
    print(figures.json)
  }

  private static func fail() {
    FileHandle.standardError.write(Data("\(usage)\n".utf8))
    exit(64)
  }
}
