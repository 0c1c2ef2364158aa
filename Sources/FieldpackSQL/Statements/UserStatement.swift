import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// A user's statement that only reads, from its preparation to its end.
///
/// While the object lives, the connection allows nothing but reading, the virtual tables of the
/// layers exist, and everything is read from one state of the file.
final class UserStatement {
  private let file: GeoPackageSession
  private let context: SQLContext
  private var statement: Statement?
  private let tables: IndexedLayerTables
  private let raised: IndexedLayerTables.Raised

  init(
    _ sql: String, _ parameters: [SQLiteValue] = [], explaining: Bool = false,
    on file: GeoPackageSession
  ) throws(FieldpackError) {
    self.file = file
    context = SQLContext(file: file, use: .rows)
    let connection = file.connection
    let users: UserSQL
    do throws(SQLiteError) {
      users = try file.userSQL()
    } catch {
      throw context.error(error)
    }
    tables = users.tables
    raised = try tables.putUp(for: sql)
    do throws(SQLiteError) {
      try connection.executeScript("BEGIN")
      // This begins the read transaction, so that the readers of R-trees know the state of the
      // file.
      _ = try connection.schemaVersion
      connection.setAuthorizer(.readOnlySQL)
      let prepared = try users.prepare(sql)
      try Self.check(parameters, of: prepared)
      let run =
        explaining
        ? try connection.prepare("EXPLAIN QUERY PLAN \(sql)", caching: false) : prepared
      try run.bind(parameters)
      statement = run
    } catch {
      throw context.error(error)
    }
  }

  // The next visitor of the reader may do more than read SQL, and means the layers' own tables.
  deinit {
    statement = nil
    file.connection.setAuthorizer(nil)
    file.connection.rollBackLeftovers()
    tables.takeDown(raised)
  }

  private static func check(
    _ parameters: [SQLiteValue], of statement: Statement
  ) throws(SQLiteError) {
    let wanted = statement.parameterCount
    guard wanted != parameters.count else { return }
    throw SQLiteError(
      extendedCode: 1,
      message: "the statement has \(wanted) parameter\(wanted == 1 ? "" : "s"), and "
        + "\(parameters.count) \(parameters.count == 1 ? "value is" : "values are") given")
  }

  /// The layers whose R-trees the statement may use.
  var layers: [LayerTable] { raised.layers }
  var columnNames: [String] { statement?.columnNames ?? [] }

  /// The next row; adds the bytes of its texts and blobs to `size`.
  func next(_ size: inout Int) throws(FieldpackError) -> [Value]? {
    do throws(SQLiteError) {
      guard let statement, try statement.step() else { return nil }
      return statement.values(&size)
    } catch { throw context.error(error) }
  }

  /// Reads the remaining rows; returns their number.
  func run() throws(FieldpackError) -> Int {
    do throws(SQLiteError) {
      var count = 0
      while try statement?.step() == true { count += 1 }
      return count
    } catch { throw context.error(error) }
  }

  /// The remaining rows, for a query plan.
  func storedRows() throws(FieldpackError) -> [[SQLiteValue]] {
    do throws(SQLiteError) {
      var rows: [[SQLiteValue]] = []
      while let statement, try statement.step() {
        rows.append((0..<statement.columnCount).map { statement.value($0) })
      }
      return rows
    } catch { throw context.error(error) }
  }
}
